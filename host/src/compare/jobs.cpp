// SPDX-License-Identifier: Apache-2.0
// Lists the jobs of a plan, and works on them with threads of this process.
#include "compare/jobs.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "omen/container.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

std::string sha256_of(const std::string& text) {
  return container::sha256(text.data(), text.size());
}

// Lengths in front keep two parts from running into each other.
std::string joined_names(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += std::to_string(part.size()) + ":" + part;
  return text;
}

std::string rows_text(const Fold& fold) {
  std::string text;
  for (const auto* rows : {&fold.train, &fold.valid, &fold.test}) {
    for (const std::int64_t row : *rows) text += std::to_string(row) + ",";
    text += ";";
  }
  // Keys of folds without such rows stay what they were.
  for (const std::int64_t row : fold.observe) text += std::to_string(row) + ",";
  return text;
}

std::string job_key(const ComparePlan& plan, const Job& job) {
  const PlannedContestant& contestant = plan.contestants[job.contestant];
  const PlannedTask& task = plan.tasks[job.task];
  const Fold& fold = task.folds[job.fold];
  const std::string scorer = task.scorer.info
                                 ? task.scorer.plugin->manifest.sha256 + task.scorer.info->id +
                                       task.scorer_options.canonical_json()
                                 : "";
  return sha256_of(joined_names(
      {contestant.facts.library_sha256, contestant.facts.component,
       contestant.options.canonical_json(), contestant.files_digest,
       contestant.scalars_only ? "scalars" : "", task.task.hash, fold.name,
       sha256_of(rows_text(fold)), scorer, std::to_string(contestant.seed.value_or(plan.run.seed)),
       std::to_string(plan.run.interval_level), plan.run.devices,
       plan.shuffle_labels ? "shuffled" : "",
       // A timeout under other limits is not an answer under these.
       std::to_string(plan.limits.timeout_s), std::to_string(plan.limits.memory_bytes)}));
}

}  // namespace

std::string task_label(const PlannedTask& task) {
  return task.task.name + (task.grouped_of ? " (grouped)" : "");
}

std::vector<Job> plan_jobs(const ComparePlan& plan) {
  std::vector<Job> jobs;
  for (std::size_t t = 0; t < plan.tasks.size(); ++t)
    for (std::size_t f = 0; f < plan.tasks[t].folds.size(); ++f)
      for (std::size_t c = 0; c < plan.contestants.size(); ++c) {
        Job job{c, t, f, ""};
        job.key = job_key(plan, job);
        jobs.push_back(std::move(job));
      }
  return jobs;
}

std::string plan_digest(const std::vector<Job>& jobs) {
  std::vector<std::string> keys;
  for (const Job& job : jobs) keys.push_back(job.key);
  return sha256_of(joined_names(keys));
}

std::vector<JobResult> run_jobs(const ComparePlan& plan, const std::vector<Job>& jobs,
                                const ResultStore& store, const JobRunner& runner,
                                const JobProgress& progress) {
  std::vector<JobResult> results(jobs.size());
  std::map<std::string, std::vector<std::size_t>>
      places;  // a contestant that comes twice runs once
  std::size_t done = 0;
  const auto keep = [&](const Job& job, const JobResult& result) {
    for (const std::size_t at : places.at(job.key)) {
      const PlannedTask& task = plan.tasks[jobs[at].task];
      JobRecord& record = (results[at] = result).record;
      record.contestant = plan.contestants[jobs[at].contestant].facts.label;
      record.task = task_label(task);
      record.fold = task.folds[jobs[at].fold].name;
      const bool kept = record.reused;
      log(record.outcome == Outcome::kOk ? OMEN_LOG_INFO : OMEN_LOG_WARN, "omen",
          record.contestant + " on " + record.task + ", fold " + record.fold + ": " +
              word_of(record.outcome) + (record.message.empty() ? "" : ", " + record.message) +
              (kept ? ", kept from an earlier run: digest verified, not run again" : ""));
      progress(++done, jobs.size());
    }
  };
  std::vector<Job> all, pending;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<std::size_t>& same = places[jobs[i].key];
    if (same.empty()) all.push_back(jobs[i]);
    same.push_back(i);
  }
  for (const Job& job : all) {
    // What took a worker down may have been what took the run down.
    const std::optional<JobResult> kept = store.find(job);
    if (kept && kept->record.outcome != Outcome::kCrashed && kept->record.outcome != Outcome::kOom)
      keep(job, *kept);
    else
      pending.push_back(job);
  }
  if (!pending.empty())
    runner(pending, [&](const Job& job, JobResult result) {
      store.put(job, result);
      keep(job, result);
    });
  return results;
}

JobRunner local_runner(const ComparePlan& plan, const RunHooks& hooks) {
  return [&plan, hooks](const std::vector<Job>& jobs, const JobDone& done) {
    std::mutex mutex;
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    RunHooks own = hooks;
    own.is_cancelled = [&stop, asked = hooks.is_cancelled] {
      return stop.load() || (asked && asked());
    };
    const auto work = [&] {
      try {
        for (std::size_t i = next++; i < jobs.size() && !stop; i = next++) {
          JobResult result = run_job(plan, jobs[i], own);
          const std::lock_guard lock(mutex);
          done(jobs[i], std::move(result));
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
    };
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(std::max(1u, plan.jobs_at_once), jobs.size());
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
    threads.clear();
    if (failure) std::rethrow_exception(failure);
  };
}

}  // namespace omen::host
