// SPDX-License-Identifier: Apache-2.0
// run.json of a comparison: everything that is needed to understand, diff and repeat it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/jobs.hpp"

namespace omen::host {

class JsonWriter;

struct RecordedTask {
  std::string name, hash, file, dataset, dataset_digest, split;
  std::int64_t workloads = 0, groups = 0, folds = 0, leaking_rows = 0;
};

struct RecordedJob {
  JobRecord record;
  Cost cost;
  std::string key;
};

// One line of the result: what `runs show` and `runs diff` need.
struct RecordedResult {
  std::string task, target, contestant, verdict, unit;
  std::int64_t workloads = 0, answered = 0;
  double median_loss = 0, mean_loss = 0, difference = 0, lo = 0, hi = 0, p_holm = 0;
};

// A run that was killed stays running in its record.
enum class RunStatus { kRunning, kFinished };
template <>
struct WordTable<RunStatus> {
  static constexpr const char* kWords[] = {"running", "finished"};
};

struct RunRecord {
  std::string id;
  RunStatus status = RunStatus::kRunning;
  std::string time, revision, plan_digest, baseline, devices, working_directory;
  std::string verb = "compare";
  std::vector<std::string> command;
  std::uint64_t seed = 1;
  unsigned threads = 0, jobs_at_once = 1;
  double timeout_s = 0, seconds = 0, interval_level = 0.90;
  std::uint64_t memory_bytes = 0;
  std::optional<double> rope;
  bool shuffled_labels = false, self_check = false;
  std::vector<Contestant> contestants;
  std::vector<RecordedTask> tasks;
  std::vector<RecordedJob> jobs;
  std::vector<RecordedResult> results;
  std::vector<std::string> warnings;
  std::filesystem::path directory;  // where it was read from

  // sha256 over the digests of its folds in order; empty where one has no predictions.
  std::string predictions_digest(const std::string& contestant, const std::string& task) const;
};

// What is known before anything ran.
RunRecord start_record(const ComparePlan& plan, const std::vector<Job>& jobs);
// Adds what came out.
void finish_record(RunRecord& record, const Comparison& comparison, const std::vector<Job>& jobs,
                   const std::vector<JobResult>& results);

// Everything but the fields that records of all verbs share.
void write_fields(JsonWriter& json, const RunRecord& record);
// A directory of a run, or its run.json. OMEN_INVALID_DATA names the field at fault.
RunRecord read_run_record(const std::filesystem::path& run);
// By id (or the start of one) in `runs`, by directory or by file. OMEN_NOT_FOUND with near ids.
std::filesystem::path find_run(const std::filesystem::path& runs, const std::string& text);
// Newest first; records of other programs are left out.
std::vector<RunRecord> list_runs(const std::filesystem::path& runs);

}  // namespace omen::host
