// SPDX-License-Identifier: Apache-2.0
// What lies in the directory of one call: tables and task out, predictions in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <omen/dataset.hpp>
#include <omen/run.hpp>
#include <string>
#include <vector>

namespace omen::external {

inline constexpr const char* kTaskFile = "task.json";
inline constexpr const char* kInputFile = "input.safetensors";
inline constexpr const char* kValidFile = "valid.safetensors";
inline constexpr const char* kPredictionsFile = "predictions.safetensors";
inline constexpr const char* kStateDirectory = "state";

// What is learnt, as the training data described it.
struct Target {
  std::string name;
  Metadata metadata;
  bool is_class = false;
  std::vector<std::string> classes;
};
struct Learnt {
  bool per_node = false;
  std::vector<Target> targets;
};
std::string to_text(const Learnt& learnt);
Learnt learnt_from_text(const std::string& text);  // OMEN_INVALID_DATA

// Tables as a program gets them: missing numbers are NaN and flags are numbers; labels are codes,
// missing ones the empty label. Targets follow the rows of `workloads`, or of `candidates`.
using Tables = std::map<std::string, Table>;
Tables plain_tables(const Dataset& dataset, bool with_targets, const std::function<void()>& tick);
Learnt targets_of(const Tables& train);
void write_tables(const std::filesystem::path& file, const Tables& tables);

// Rows for which an answer is due.
struct Rows {
  std::vector<std::int64_t> workload;
  std::vector<std::int32_t> candidate;  // empty where workloads are asked about
};
Rows rows_due(const Tables& tables);

void write_task(const std::filesystem::path& file, const char* verb, const Tables& tables,
                const Learnt& learnt, const Run& run, const std::string& task_json);

// OMEN_INVALID_DATA says which tensor or row is wrong.
Table read_predictions(const std::filesystem::path& file, const Learnt& learnt, const Rows& rows,
                       double level);

}  // namespace omen::external
