// SPDX-License-Identifier: Apache-2.0
// One job: fit in a worker, hand the model over as a file, predict in a second worker that is given
// nothing but the model and the test inputs.
#include <chrono>
#include <map>
#include <mutex>

#include "compare/fold_data.hpp"
#include "compare/job_directory.hpp"
#include "compare/job_result.hpp"
#include "components/withheld.hpp"
#include "omen/learn/quantile.hpp"
#include "pipeline/models.hpp"
#include "pipeline/pipeline.hpp"
#include "text/log.hpp"
#include "worker/remote.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

double job_seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void fill_for_job(MemoryDataset& dataset, const Tables& tables, const Task& task) {
  for (const auto& [name, table] : tables) dataset.put(name, table);
  dataset.set_task(task.hash, public_task_json(task));
}

// Rows by workload and then by node or candidate, in the order of the ids.
Table sorted_pairs(const Table& rows, const char* second, const std::string& who) {
  for (const char* column : {"workload_id", second})
    if (!rows.has(column))
      throw Error(OMEN_INTERNAL,
                  "plugin misbehaving: " + who + " predicted without a column " + column);
  const std::vector<double> owner = rows.numbers("workload_id"), part = rows.numbers(second);
  std::map<std::pair<double, double>, std::int64_t> place;
  for (std::size_t i = 0; i < owner.size(); ++i)
    if (!place.emplace(std::pair(owner[i], part[i]), static_cast<std::int64_t>(i)).second)
      throw Error(OMEN_INTERNAL, "plugin misbehaving: " + who + " predicted workload " +
                                     std::to_string(static_cast<std::int64_t>(owner[i])) +
                                     " twice for the same " + second);
  std::vector<std::int64_t> order;
  for (const auto& [key, row] : place) order.push_back(row);
  return take(rows, order);
}

struct Metric {
  std::string name;
  std::int64_t step;
  double value;
};

Table curve_table(const std::vector<Metric>& metrics) {
  std::vector<std::string> names;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  for (const Metric& metric : metrics) {
    names.push_back(metric.name);
    steps.push_back(metric.step);
    values.push_back(metric.value);
  }
  TableBuilder builder;
  builder.add_categories("metric", names).add("step", steps).add("value", values);
  return builder.finish();
}

class JobRun {
 public:
  JobRun(const ComparePlan& plan, const Job& job, const RunHooks& hooks)
      : contestant_(plan.contestants[job.contestant]),
        task_(plan.tasks[job.task]),
        fold_(task_.folds[job.fold]),
        hooks_(hooks),
        settings_(plan.run),
        limits_(plan.limits),
        data_(fold_data(task_, fold_, info(), contestant_.scalars_only)) {
    settings_.threads = limits_.threads = task_.task.threads_per_fold;
    settings_.seed = contestant_.seed.value_or(plan.run.seed);
    settings_.output_dir.clear();
    settings_.state_dir.clear();
    limits_.run_dir = directory_.path();
    hooks_.progress = nullptr;
    hooks_.metric = [this](const char* name, std::int64_t step, double value) {
      const std::lock_guard lock(mutex_);
      metrics_.push_back({name, step, value});
    };
  }

  void execute() {
    if (contestant_.model.empty()) fit();
    if (!metrics_.empty()) tables["curves"] = curve_table(metrics_);
    hooks_.metric = nullptr;
    predict();
    if (task_.scorer.info) score();
  }

  Tables tables;
  Cost cost;
  std::string model_digest;
  std::optional<Error> failure;  // of a stream that gave some rows, or of the scorer

 private:
  const ComponentInfo& info() const { return *contestant_.component.info; }
  const Manifest& plugin() const { return contestant_.component.plugin->manifest; }
  PredictorHandle start() const {
    return remote_predictor(plugin(), info().id, contestant_.options, limits_);
  }
  fs::path model() const {
    return contestant_.model.empty() ? directory_.path() / "model.omen" : contestant_.model;
  }

  // The worker and everything it was given end with this function.
  void fit() {
    PredictorHandle handle = start();
    MemoryDataset train, valid;
    fill_for_job(train, data_.train, task_.task);
    fill_for_job(valid, data_.valid, task_.task);
    {
      const RunContext run(settings_, hooks_);
      const auto begin = Clock::now();
      handle.fit(run.c(), train.c(), data_.valid.empty() ? nullptr : valid.c());
      cost.fit_s = job_seconds_since(begin);
    }
    TrainingFacts facts;
    facts.options_json = contestant_.options.canonical_json();
    facts.task_hash = task_.task.hash;
    facts.split = fold_.name;
    facts.seed = settings_.seed;
    facts.schema = feature_schema(info(), train.view());
    facts.targets = target_facts(data_.train.at(task_.task.per_node ? "node_targets" : "targets"));
    save_model(handle, contestant_.component, facts, model());
    cost.peak_memory = remote_peak_memory(handle);
  }

  void predict() {
    const auto begin = Clock::now();
    PredictorHandle handle = start();
    MemoryDataset test;
    fill_for_job(test, data_.test, task_.task);
    model_digest = load_model(handle, contestant_.component, model(), test.view()).digest;
    cost.load_s = job_seconds_since(begin);
    std::error_code ignored;
    if (contestant_.model.empty()) fs::remove(model(), ignored);
    {
      const RunContext run(settings_, hooks_);
      const Table rows = read_until_failure(handle.predict(run.c(), test.c()), failure);
      keep(rows);
    }
    if (!failure) time_single_workloads(handle);
    cost.peak_memory = std::max(cost.peak_memory, remote_peak_memory(handle));
  }

  void keep(const Table& rows) {
    if (task_.task.per_node) {
      tables["node_predictions"] = sorted_pairs(rows, "node_id", info().id);
    } else if (!data_.candidates.empty() && !data_.expanded) {
      tables["predictions"] = sorted_pairs(rows, "candidate_id", info().id);
    } else {
      const std::string status = failure ? std::string("failed: ") + failure->what() : "";
      const Table answers =
          checked_predictions(rows, data_.test.at("workloads"), info().id, status);
      tables["predictions"] = data_.expanded
                                  ? sorted_pairs(collapse_candidates(answers, data_.candidates),
                                                 "candidate_id", info().id)
                                  : answers;
    }
  }

  // What one workload alone costs, through the worker; the first call warms up.
  void time_single_workloads(PredictorHandle& handle) {
    constexpr std::int64_t kMost = 20;
    constexpr double kBudget = 0.15;
    const std::int64_t rows = data_.test.at("workloads").rows();
    const std::int64_t count = std::min(kMost, rows);
    std::vector<double> times;
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < count && (i < 2 || job_seconds_since(begin) < kBudget); ++i) {
      MemoryDataset one;
      fill_for_job(one, keep_workloads(data_.test, {i * rows / count}), task_.task);
      const RunContext run(settings_, hooks_);
      const auto start_of_call = Clock::now();
      try {
        handle.predict(run.c(), one.c()).read_all();
      } catch (const Error&) {
        if (run.c()->is_cancelled(run.c())) throw;
        break;  // the answers are there already; what is missing is a timing
      }
      times.push_back(1e3 * job_seconds_since(start_of_call));
    }
    if (times.size() > 1) times.erase(times.begin());
    cost.predict_p50_ms = learn::quantile(times, 0.5);
    cost.predict_p95_ms = learn::quantile(times, 0.95);
    TableBuilder timing;
    timing.add("predict_ms", times);
    tables["timing"] = timing.finish();
  }

  void score() {
    const ComponentRef& scorer = task_.scorer;
    try {
      ScorerHandle handle =
          remote_scorer(scorer.plugin->manifest, scorer.info->id, task_.scorer_options, limits_);
      if (const fs::path weights = resolve_model(scorer, ""); !weights.empty() && handle.loads())
        load_model(handle, scorer, weights);
      Tables inputs = keep_workloads(task_.tables, fold_.test);
      std::erase_if(inputs, [](const auto& entry) { return is_withheld(entry.first); });
      inputs["predictions"] = tables.at("predictions");
      MemoryDataset dataset;
      fill_for_job(dataset, inputs, task_.task);
      const RunContext run(settings_, hooks_);
      Table scores = handle.score(run.c(), dataset.c()).read_all();
      scores.validate();
      if (!scores.has("rank") || !is_number(scores.type(scores.index("rank"))))
        throw Error(OMEN_INTERNAL, "plugin misbehaving: it scored without a column rank");
      tables["scores"] = sorted_pairs(scores, "candidate_id", scorer.info->id);
    } catch (const Error& error) {
      if (error.code() == OMEN_CANCELLED) throw;
      failure = Error(error.code(), "scorer " + scorer.info->id + ": " + error.what(), error.hint(),
                      error.details_json());
    }
  }

  JobDirectory directory_;
  const PlannedContestant& contestant_;
  const PlannedTask& task_;
  const Fold& fold_;
  RunHooks hooks_;
  RunSettings settings_;
  WorkerLimits limits_;
  FoldData data_;
  std::mutex mutex_;
  std::vector<Metric> metrics_;
};

// Nobody but the system or an operator sends this signal; limits have outcomes of their own.
bool killed_from_outside(const Error& error) {
  return outcome_of(error) == Outcome::kCrashed &&
         error.details_json().find("\"signal\":\"SIGKILL\"") != std::string::npos;
}

}  // namespace

JobResult run_job(const ComparePlan& plan, const Job& job, const RunHooks& hooks) {
  const PlannedTask& task = plan.tasks[job.task];
  JobRecord record{plan.contestants[job.contestant].facts.label,
                   task_label(task),
                   task.folds[job.fold].name,
                   outcome_name(Outcome::kOk),
                   "",
                   "",
                   false};
  const auto given_up = [&] {
    return interrupted() || (hooks.is_cancelled && hooks.is_cancelled());
  };
  for (bool again = false;; again = true) {
    if (given_up()) throw Error(OMEN_CANCELLED, "the comparison was interrupted");
    JobRun run(plan, job, hooks);
    std::optional<Error> failure;
    try {
      run.execute();
      failure = run.failure;
    } catch (const Error& error) {
      failure = error;
    } catch (const std::exception& error) {
      failure = Error(OMEN_INTERNAL, error.what());
    }
    if (failure && given_up()) throw Error(OMEN_CANCELLED, "the comparison was interrupted");
    if (failure && killed_from_outside(*failure) && !again) {
      log(OMEN_LOG_WARN, "omen",
          record.contestant + " on " + record.task + ", fold " + record.fold +
              ": its worker was killed from outside; trying once more");
      continue;
    }
    if (failure) {
      record.outcome = outcome_name(outcome_of(*failure));
      record.message = failure->what();
    }
    record.model_digest = run.model_digest;
    return make_job_result(job, std::move(record), run.cost, run.tables);
  }
}

}  // namespace omen::host
