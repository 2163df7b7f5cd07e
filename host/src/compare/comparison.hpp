// SPDX-License-Identifier: Apache-2.0
// The outcome of `omen compare`, as plain data: the engine fills it, every report renders it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stats/metrics.hpp"
#include "stats/paired.hpp"
#include "stats/ranking.hpp"
#include "tables/target_words.hpp"
#include "worker/outcome.hpp"

namespace omen::host {

// How far a component claims to repeat itself.
enum class Determinism { kNone, kSeeded, kBitwise };
template <>
struct WordTable<Determinism> {
  static constexpr const char* kWords[] = {"none", "seeded", "bitwise"};
};

struct Contestant {
  std::string label;  // unique: the component id, with its options where one id appears twice
  std::string component, plugin, plugin_version, library_sha256, options_json;
  Determinism determinism = Determinism::kNone;
  bool reference = false;  // constant, 5-NN and boosted trees that every report carries
  std::string model;       // file of one that was trained before; empty: fitted in every fold
  std::uint64_t seed = 0;  // where it differs from the run's: the second of a self-check
};

// Rows of one contestant on one target of one task.
struct Coverage {
  std::int64_t workloads = 0, answered = 0, extrapolating = 0;
  std::map<std::string, std::int64_t> refusals;  // reason -> rows
};

struct Curve {
  std::string fold, metric;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
};

struct Cost {
  double load_s = 0, fit_s = 0;                   // median over folds
  double predict_p50_ms = 0, predict_p95_ms = 0;  // per workload
  std::uint64_t peak_memory = 0;
};

// One (contestant, task, fold) job as it ended.
struct JobRecord {
  std::string contestant, task, fold;
  Outcome outcome = Outcome::kOk;
  std::string message;
  std::string digest;             // of its predictions
  bool reused = false;            // kept from an earlier, interrupted run
  std::string model_digest = {};  // of the artefact that predicted; empty where none came to be
};

struct ContestantResult {  // index as in Comparison::contestants
  Coverage coverage;
  double median_loss = 0, mean_loss = 0;
  std::vector<stats::Metric> metrics;
  stats::Confusion confusion;  // empty for numbers
  stats::PairedResult versus_baseline;
};

// One row a workload; per contestant in order. Averages over repeats.
struct WorkloadRow {
  std::int64_t workload_id = 0;
  std::string name, group;
  double truth = 0;                             // class number for classes
  std::string truth_class;                      // empty for numbers
  std::vector<double> predicted, lo, hi, loss;  // NaN where there is none
  std::vector<std::string> predicted_class, status;
};

struct TargetResult {
  std::string target, unit;
  TargetKind kind = TargetKind::kNumber;
  Loss loss = Loss::kAbsolute;
  std::string loss_unit;
  std::vector<ContestantResult> contestants;
  std::vector<WorkloadRow> rows;
};

struct TaskResult {
  std::string task, hash, file, dataset, dataset_digest, split;
  std::int64_t workloads = 0, groups = 0;
  double rope = 0.01;                      // of its verdicts, as in Task
  std::vector<TargetResult> targets;       // a decision comes as a target of its own
  std::vector<Cost> costs;                 // per contestant
  std::vector<std::vector<Curve>> curves;  // per contestant
  // Near-duplicates across train and test: how many test rows, and the result with folds grouped so
  // that duplicates stay together.
  std::int64_t leaking_rows = 0;
  std::vector<TargetResult> grouped_targets;  // empty where nothing leaks
};

struct Comparison {
  std::string id, time, command_line, revision, machine_json;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::size_t baseline = 0;  // index of the contestant that others are held against
  bool self_check = false, shuffled_labels = false;
  std::vector<Contestant> contestants;
  std::vector<TaskResult> tasks;
  stats::Ranking ranking;  // empty mean_ranks: not computed
  std::vector<JobRecord> jobs;
  std::vector<std::string> warnings;
  std::filesystem::path directory;  // runs/<id>
  double seconds = 0;
};

}  // namespace omen::host
