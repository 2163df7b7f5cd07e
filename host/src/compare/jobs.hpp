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
#include "components/options.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "data/task.hpp"
#include "worker/worker.hpp"

namespace omen::host {

struct PlannedContestant {
  Contestant facts;
  ComponentRef component;
  OptionValues options;
  std::filesystem::path model;        // trained already, so it only predicts; empty: fitted
  std::string files_digest;           // of the model and of files that options name
  std::optional<std::uint64_t> seed;  // instead of the plan's, where one contestant comes twice
  bool scalars_only = false;          // sees no graph: the 5-NN reference
};

struct PlannedTask {
  Task task;
  Tables tables;  // as load_task gives them; targets shuffled where that was asked for
  std::vector<Fold> folds;
  // Set where this is that task once more, with folds that keep near-duplicates together.
  std::optional<std::size_t> grouped_of;
  std::int64_t leaking_rows = 0;  // test rows with a near-duplicate in their training set
  ComponentRef scorer;            // of a decision; empty: the predictions decide
  OptionValues scorer_options;
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

// The name of the task, and that it is the grouped one.
std::string task_label(const PlannedTask& task);

struct Job {
  std::size_t contestant = 0, task = 0, fold = 0;
  // sha256 over library, component, options, task hash, fold, seed, shuffling and limits: the name
  // of its result.
  std::string key;
};
// Task by task and fold by fold, so that early folds are there for every contestant.
std::vector<Job> plan_jobs(const ComparePlan& plan);
// sha256 over the keys: the same for two runs that compute the same.
std::string plan_digest(const std::vector<Job>& jobs);

// Tables `predictions` (or `node_predictions`), `scores`, `curves` and `timing`, and metadata for
// cost and outcome; the digest covers the predictions only, so that it does not change with
// timings.
struct JobResult {
  JobRecord record;
  Cost cost;
  std::string bytes;  // a container with all of this: what is stored and sent
};
// The inverse of JobResult::bytes; OMEN_INVALID_DATA where anything in it was damaged.
JobResult read_job_result(std::string bytes);
Tables job_tables(const JobResult& result);

// Fits in one worker and predicts in another, which gets the model and the test inputs only. Never
// throws for what the plugin did: that is the record's outcome. OMEN_CANCELLED where the user gave
// up.
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
// Called after every job that is done, also for those that were kept.
using JobProgress = std::function<void(std::size_t done, std::size_t all)>;
// Results in the order of `jobs`: those in the store are kept, the others run and are stored as
// they come, so that a kill costs no more than what runs at that moment.
std::vector<JobResult> run_jobs(const ComparePlan& plan, const std::vector<Job>& jobs,
                                const ResultStore& store, const JobRunner& runner,
                                const JobProgress& progress);
// `jobs_at_once` threads of this process, each with its own worker. The first error, such as
// OMEN_CANCELLED, ends the others and is thrown.
JobRunner local_runner(const ComparePlan& plan, const RunHooks& hooks);

}  // namespace omen::host
