// SPDX-License-Identifier: Apache-2.0
// The unit of work of a comparison: one contestant fitted and asked on one fold of one task.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "data/task.hpp"
#include "omen/host/options.hpp"
#include "omen/host/registry.hpp"
#include "omen/host/run_context.hpp"
#include "omen/host/worker.hpp"

namespace omen::host {

struct PlannedContestant {
  Contestant facts;
  ComponentRef component;
  OptionValues options;
};

struct PlannedTask {
  Task task;
  Tables tables;  // as load_task gives them; targets shuffled where that was asked for
  std::vector<Fold> folds;
};

// Everything that decides what the jobs compute; the same on every rank.
struct ComparePlan {
  std::vector<PlannedContestant> contestants;
  std::vector<PlannedTask> tasks;
  RunSettings run;
  WorkerLimits limits;
  unsigned jobs_at_once = 1;
  bool shuffle_labels = false;
};

struct Job {
  std::size_t contestant = 0, task = 0, fold = 0;
  // sha256 over library, component, options, task hash, fold, seed and shuffling: the name of its
  // result.
  std::string key;
};
std::vector<Job> plan_jobs(const ComparePlan& plan);

// A container with table `predictions` (and `node_predictions`), `curves` and metadata for cost and
// outcome; the digest covers the predictions only, so that it does not change with timings.
struct JobResult {
  JobRecord record;
  Cost cost;
  std::string bytes;
};
// In a worker of its own. Never throws for what the plugin did: that is the record's outcome.
JobResult run_job(const ComparePlan& plan, const Job& job, const RunHooks& hooks);

// Results of finished jobs in `<run>/jobs/<key>.omt`, written atomically.
class ResultStore {
 public:
  explicit ResultStore(std::filesystem::path directory) : directory_(std::move(directory)) {}
  // Empty where there is none; a damaged one is removed and logged.
  std::optional<JobResult> find(const Job& job) const;
  void put(const Job& job, const JobResult& result) const;

 private:
  std::filesystem::path directory_;
};

// Runs jobs in any order and hands over each result as it comes, one call at a time.
using JobDone = std::function<void(const Job& job, JobResult result)>;
using JobRunner = std::function<void(const std::vector<Job>& jobs, const JobDone& done)>;
// `jobs_at_once` threads of this process, each with its own worker.
JobRunner local_runner(const ComparePlan& plan, const RunHooks& hooks);

}  // namespace omen::host
