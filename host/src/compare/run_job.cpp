// SPDX-License-Identifier: Apache-2.0
// One job: fit in a worker, hand the model over as a file, let another correct it by the observe
// rows where there are any, predict in one that is given nothing but the model and the test inputs.
#include <chrono>
#include <map>
#include <mutex>

#include "compare/fold_data.hpp"
#include "compare/job_directory.hpp"
#include "compare/job_result.hpp"
#include "components/withheld.hpp"
#include "omen/learn/quantile.hpp"
#include "pipeline/ready.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

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

bool given_up(const RunHooks& hooks) {
  return interrupted() || (hooks.is_cancelled && hooks.is_cancelled());
}

// Where the fit of a job that is killed leaves its state; a run that goes on finds it by its key.
std::filesystem::path state_of(const ComparePlan& plan, const Job& job) {
  return plan.run.state_dir.empty() ? plan.run.state_dir : plan.run.state_dir / job.key;
}

class JobRun {
 public:
  JobRun(const ComparePlan& plan, const Job& job, const RunHooks& hooks)
      : contestant_(plan.contestants[job.contestant]),
        task_(plan.tasks[job.task]),
        fold_(task_.folds[job.fold]),
        job_key_(job.key),
        state_(state_of(plan, job)),
        told_{task_.task.hash, public_task_json(task_.task)},
        data_(fold_data(task_, fold_, info(), contestant_.scalars_only)) {
    settings_.run = plan.run;
    settings_.run.threads = task_.task.threads_per_fold;
    settings_.run.seed = contestant_.seed.value_or(plan.run.seed);
    settings_.run.output_dir.clear();
    settings_.run.state_dir.clear();
    settings_.hooks.is_cancelled = hooks.is_cancelled;
    settings_.isolate = true;
    settings_.limits = plan.limits;
    settings_.limits.threads = task_.task.threads_per_fold;
    settings_.limits.run_dir = directory_.path();
  }

  void execute() {
    if (contestant_.model.empty()) fit_model();
    const Components components = door(nullptr);
    if (!data_.observe.empty()) observe_rows(components);
    predict(components);
    if (task_.scorer.info) score(components);
  }

  Tables tables;
  Cost cost;
  std::string model_digest;
  std::optional<Error> failure;  // of a stream that gave some rows, or of the scorer

 private:
  const ComponentInfo& info() const { return *contestant_.component.info; }
  std::filesystem::path fitted_model() const { return directory_.path() / "model.omen"; }
  std::filesystem::path model() const {
    return contestant_.model.empty() || observed_ ? fitted_model() : contestant_.model;
  }
  // Components of a job run within its limits, each in a worker of its own.
  Components door(std::function<void(const char*, std::int64_t, double)> metric) const {
    ComponentSettings settings = settings_;
    settings.hooks.metric = std::move(metric);
    return Components(components_in_use().registry(), std::move(settings));
  }

  void fit_model() {
    std::mutex mutex;
    std::vector<Metric> metrics;
    const Components components = door([&](const char* name, std::int64_t step, double value) {
      const std::lock_guard lock(mutex);
      metrics.push_back({name, step, value});
    });
    const Fit done = fit(components,
                         {contestant_.component, contestant_.options, data_.train, data_.valid,
                          told_, fold_.name, "", "", state_, job_key_},
                         fitted_model());
    cost.fit_s = done.seconds;
    cost.peak_memory = done.peak_memory;
    if (!metrics.empty()) tables["curves"] = curve_table(metrics);
  }

  // One that does not learn from measured rows answers without them.
  void observe_rows(const Components& components) {
    try {
      const Observation done = observe(
          components,
          {{contestant_.component, Model(model())}, contestant_.options, data_.observe, told_, ""},
          fitted_model());
      cost.fit_s = (contestant_.model.empty() ? cost.fit_s : 0) + done.seconds;
      cost.peak_memory = std::max(cost.peak_memory, done.peak_memory);
      observed_ = true;
    } catch (const Error& error) {
      if (error.code() != OMEN_UNSUPPORTED) throw;
      log(OMEN_LOG_INFO, "omen",
          contestant_.facts.label + ", fold " + fold_.name + ": " + error.what() + "; " +
              std::to_string(fold_.observe.size()) + " observe rows were not used");
    }
  }

  void predict(const Components& components) {
    ReadyPredictor predictor = load(components);
    Answer answer = predictor.predict(data_.test);
    failure = std::move(answer.failure);
    keep(answer.rows);
    if (!failure) time_single_workloads(predictor);
    cost.peak_memory = std::max(cost.peak_memory, predictor.peak_memory());
  }

  ReadyPredictor load(const Components& components) {
    const Model trained = model();
    model_digest = trained.card().digest;
    ReadyPredictor predictor(components, {contestant_.component, trained}, contestant_.options,
                             data_.test, told_);
    cost.load_s = predictor.load_seconds();
    std::error_code ignored;
    std::filesystem::remove(fitted_model(), ignored);
    return predictor;
  }

  void keep(const Table& rows) {
    if (task_.task.per_node) {
      tables["node_predictions"] = sorted_pairs(rows, "node_id", info().id);
    } else if (!data_.candidates.empty() && !data_.expanded) {
      tables["predictions"] = sorted_pairs(rows, "candidate_id", info().id);
    } else {
      // Rows of nodes answer another question than this task puts.
      const Table answers = rows.has("node_id")
                                ? checked_predictions(rows, data_.test.at("workloads"), info().id)
                                : rows;
      tables["predictions"] = data_.expanded
                                  ? sorted_pairs(collapse_candidates(answers, data_.candidates),
                                                 "candidate_id", info().id)
                                  : answers;
    }
  }

  // What one workload alone costs, through the worker; the first call warms up.
  void time_single_workloads(ReadyPredictor& predictor) {
    constexpr std::int64_t kMost = 20;
    constexpr double kBudget = 0.15;
    const std::int64_t rows = data_.test.at("workloads").rows();
    const std::int64_t count = std::min(kMost, rows);
    std::vector<double> times;
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < count && (i < 2 || seconds_since(begin) < kBudget); ++i) {
      try {
        const Answer one = predictor.predict(keep_workloads(data_.test, {i * rows / count}));
        if (one.failure) break;
        times.push_back(1e3 * one.seconds);
      } catch (const Error&) {
        if (given_up(settings_.hooks)) throw;
        break;  // the answers are there already; what is missing is a timing
      }
    }
    if (times.size() > 1) times.erase(times.begin());
    cost.predict_p50_ms = learn::quantile(times, 0.5);
    cost.predict_p95_ms = learn::quantile(times, 0.95);
    TableBuilder timing;
    timing.add("predict_ms", times);
    tables["timing"] = timing.finish();
  }

  void score(const Components& components) {
    const ComponentRef& scorer = task_.scorer;
    try {
      ReadyScorer ready(components, scorer, task_.scorer_options, resolve_model(scorer, ""), told_);
      Tables inputs = keep_workloads(task_.tables, fold_.test);
      std::erase_if(inputs, [](const auto& entry) { return is_withheld(entry.first); });
      inputs["predictions"] = tables.at("predictions");
      const Table scores = ready.score(inputs).rows;
      if (!is_number(scores.type(scores.index("rank"))))
        throw Error(OMEN_INTERNAL, "plugin misbehaving: it scored with a rank that is no number");
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
  std::string job_key_;
  std::filesystem::path state_;
  TaskFacts told_;
  ComponentSettings settings_;
  FoldData data_;
  bool observed_ = false;
};

}  // namespace

JobResult run_job(const ComparePlan& plan, const Job& job, const RunHooks& hooks) {
  const PlannedTask& task = plan.tasks[job.task];
  JobRecord record{plan.contestants[job.contestant].facts.label,
                   task_label(task),
                   task.folds[job.fold].name,
                   Outcome::kOk,
                   "",
                   "",
                   false};
  for (bool again = false;; again = true) {
    if (given_up(hooks)) throw Error(OMEN_CANCELLED, "the comparison was interrupted");
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
    if (failure && given_up(hooks)) throw Error(OMEN_CANCELLED, "the comparison was interrupted");
    if (failure && killed_from_outside(*failure) && !again) {
      log(OMEN_LOG_WARN, "omen",
          record.contestant + " on " + record.task + ", fold " + record.fold +
              ": its worker was killed from outside; trying once more");
      continue;
    }
    if (failure) {
      record.outcome = outcome_of(*failure);
      record.message = failure->what();
    }
    // What an outcome is known of is never gone on with.
    std::error_code ignored;
    if (!plan.run.state_dir.empty()) std::filesystem::remove_all(state_of(plan, job), ignored);
    record.model_digest = run.model_digest;
    return make_job_result(job, std::move(record), run.cost, run.tables);
  }
}

}  // namespace omen::host
