// SPDX-License-Identifier: Apache-2.0
// Builds the comparison task by task and target by target, then judges all pairs together.
#include "compare/assemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compare/answers.hpp"
#include "compare/fold_data.hpp"
#include "omen/learn/quantile.hpp"

namespace omen::host {
namespace {

constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

std::string loss_unit(const TaskTarget& target) {
  if (target.loss == Loss::kAbsolutePercent) return "%";
  if (target.loss == Loss::kZeroOne) return "";
  if (target.loss == Loss::kLogLoss) return "nat";
  if (target.loss == Loss::kSquared) return target.unit.empty() ? "" : target.unit + "^2";
  return target.unit;
}

stats::Estimate estimate_of(const Task& task, TargetKind kind) {
  if (task.estimate == TaskEstimate::kMean) return stats::Estimate::kMean;
  if (task.estimate == TaskEstimate::kMedian) return stats::Estimate::kMedian;
  return kind == TargetKind::kNumber ? stats::Estimate::kMedian : stats::Estimate::kMean;
}

// Groups as numbers, in order of first appearance.
std::vector<std::int32_t> group_numbers(const std::vector<std::string>& groups) {
  std::map<std::string, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  for (const std::string& group : groups)
    numbers.push_back(
        known.try_emplace(group, static_cast<std::int32_t>(known.size())).first->second);
  return numbers;
}

Coverage coverage_of(const Answers& answers) {
  Coverage coverage;
  for (std::size_t unit = 0; unit < answers.status.size(); ++unit) {
    if (!answers.expected[unit]) continue;
    ++coverage.workloads;
    const std::string& status = answers.status[unit];
    if (!is_answer(status)) {
      ++coverage.refusals[status];
      continue;
    }
    ++coverage.answered;
    coverage.extrapolating += from_word<RowStatus>(status) == RowStatus::kExtrapolating;
  }
  return coverage;
}

std::vector<stats::Metric> metrics_of(const Truth& truth, const Answers& answers,
                                      double default_level, stats::Confusion& matrix) {
  if (truth.target.kind == TargetKind::kClass) {
    matrix = stats::confusion(answers.true_codes, answers.predicted_codes, truth.classes);
    std::vector<double> flat;
    if (answers.probabilities.size() == answers.true_codes.size())
      for (const std::vector<double>& row : answers.probabilities) {
        flat.insert(flat.end(), row.begin(), row.end());
        flat.insert(flat.end(), truth.classes.size() - row.size(), 0.0);
      }
    return stats::class_metrics(matrix, answers.true_codes, flat);
  }
  std::vector<stats::Metric> metrics =
      stats::regression_metrics(answers.truths, answers.predictions, truth.target.unit);
  if (answers.los.empty()) return metrics;
  const double level = answers.level > 0 ? answers.level : default_level;
  for (stats::Metric& metric : stats::interval_metrics(answers.interval_truths, answers.los,
                                                       answers.his, level, truth.target.unit))
    metrics.push_back(std::move(metric));
  return metrics;
}

class TaskAssembly {
 public:
  TaskAssembly(const ComparePlan& plan, std::size_t task, const std::vector<Job>& jobs,
               const std::vector<JobResult>& results, const AssemblySettings& settings)
      : plan_(plan), task_(plan.tasks[task]), settings_(settings), units_(task_) {
    folds_.resize(plan.contestants.size());
    costs_.resize(plan.contestants.size());
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].task == task) {
        const Fold& fold = task_.folds[jobs[i].fold];
        folds_[jobs[i].contestant].push_back({&fold, &results[i].record, job_tables(results[i])});
        costs_[jobs[i].contestant].push_back(results[i].cost);
      }
  }

  std::vector<TargetResult> targets() {
    std::vector<TargetResult> all;
    for (const TaskTarget& target : task_.task.targets)
      if (truth_table(task_.task, task_.tables).has(target.name)) all.push_back(one_target(target));
    if (task_.task.decision) all.push_back(decision());
    return all;
  }

  TaskResult result() {
    const Task& task = task_.task;
    TaskResult out;
    out.task = task.name;
    out.hash = task.hash;
    out.file = task.file.string();
    out.dataset = task.dataset;
    out.dataset_digest = task.dataset_digest;
    out.split = split_text();
    out.rope = settings_.rope.value_or(task.rope);
    out.leaking_rows = task_.leaking_rows;
    std::set<std::int64_t> rows;
    std::set<std::string> groups;
    for (const Fold& fold : task_.folds)
      for (const std::int64_t row : fold.test) {
        rows.insert(row);
        for (const std::size_t unit : units_.of_row[static_cast<std::size_t>(row)])
          groups.insert(units_.group[unit]);
      }
    out.workloads = static_cast<std::int64_t>(rows.size());
    out.groups = static_cast<std::int64_t>(groups.size());
    out.targets = targets();
    for (std::size_t c = 0; c < folds_.size(); ++c) {
      out.costs.push_back(cost(c));
      out.curves.push_back(curves(c));
    }
    return out;
  }

 private:
  std::string split_text() const {
    const TaskSplit& split = task_.task.split;
    std::string text = word_of(split.kind);
    if (split.kind != SplitKind::kFixed)
      text += ", " + std::to_string(task_.folds.size()) + " folds";
    if (split.repeats > 1) text += " in " + std::to_string(split.repeats) + " repeats";
    return text;
  }

  TargetResult one_target(const TaskTarget& wanted) {
    Truth truth(task_, units_, wanted);
    TargetResult out{wanted.name, wanted.unit, wanted.kind, wanted.loss, loss_unit(wanted), {}, {}};
    std::vector<Answers> answers;
    for (const std::vector<FoldAnswers>& folds : folds_)
      answers.push_back(collect_answers(units_, truth, folds));
    const std::vector<std::int32_t> groups = group_numbers(units_.group);
    fill(out, answers, groups);
    for (std::size_t c = 0; c < answers.size(); ++c)
      out.contestants[c].metrics =
          metrics_of(truth, answers[c], plan_.run.interval_level, out.contestants[c].confusion);
    for (std::size_t unit = 0; unit < units_.row.size(); ++unit) {
      if (!expected(answers, unit)) continue;
      const bool is_class = wanted.kind == TargetKind::kClass;
      WorkloadRow row = common_row(answers, unit);
      row.workload_id = units_.workload_id[unit];
      row.name = units_.name[unit];
      row.group = units_.group[unit];
      row.truth = is_class ? truth.code[unit] : truth.number[unit];
      if (is_class) row.truth_class = truth.classes[static_cast<std::size_t>(truth.code[unit])];
      out.rows.push_back(std::move(row));
    }
    return out;
  }

  TargetResult decision() {
    const TaskDecision& asked = *task_.task.decision;
    std::string unit;
    for (const TaskTarget& target : task_.task.targets)
      if (target.name == asked.cost_target) unit = target.unit;
    TargetResult out{"decision", unit, TargetKind::kDecision, Loss::kRegret, "%", {}, {}};
    std::vector<DecisionAnswers> decided;
    std::vector<Answers> answers;
    for (const std::vector<FoldAnswers>& folds : folds_) {
      decided.push_back(collect_decisions(task_, folds));
      answers.push_back(decided.back().answers);
    }
    const std::vector<std::string> rows_group = workload_texts(units_.group);
    const std::vector<std::string> rows_name = workload_names();
    fill(out, answers, group_numbers(rows_group));
    for (std::size_t c = 0; c < decided.size(); ++c)
      out.contestants[c].metrics =
          stats::decision_metrics(decided[c].decisions, asked.direction != Direction::kHigher);
    const std::vector<double> ids = task_.tables.at("workloads").numbers("workload_id");
    for (std::size_t at = 0; at < ids.size(); ++at) {
      if (!expected(answers, at)) continue;
      WorkloadRow row = common_row(answers, at);
      row.workload_id = static_cast<std::int64_t>(ids[at]);
      row.name = rows_name[at];
      row.group = rows_group[at];
      row.truth = decided[0].best[at];
      row.truth_class = decided[0].best_name[at];
      out.rows.push_back(std::move(row));
    }
    return out;
  }

  // Of every workload, from the first of its units.
  std::vector<std::string> workload_texts(const std::vector<std::string>& of_units) const {
    std::vector<std::string> texts(units_.of_row.size());
    for (std::size_t row = 0; row < texts.size(); ++row)
      if (!units_.of_row[row].empty()) texts[row] = of_units[units_.of_row[row].front()];
    return texts;
  }
  std::vector<std::string> workload_names() const {
    std::vector<std::string> names = workload_texts(units_.name);
    for (std::string& name : names)
      if (const std::size_t slash = name.rfind(" / "); slash != std::string::npos)
        name.resize(slash);
    return names;
  }

  static bool expected(const std::vector<Answers>& answers, std::size_t unit) {
    return std::any_of(answers.begin(), answers.end(),
                       [&](const Answers& a) { return a.expected[unit]; });
  }

  static WorkloadRow common_row(const std::vector<Answers>& answers, std::size_t unit) {
    WorkloadRow row;
    for (const Answers& one : answers) {
      row.predicted.push_back(one.predicted[unit]);
      row.lo.push_back(one.lo[unit]);
      row.hi.push_back(one.hi[unit]);
      row.loss.push_back(one.loss[unit]);
      row.predicted_class.push_back(one.predicted_class[unit]);
      row.status.push_back(one.status[unit]);
    }
    return row;
  }

  // Coverage, losses and the pair with the baseline.
  void fill(TargetResult& out, const std::vector<Answers>& answers,
            const std::vector<std::int32_t>& groups) const {
    const bool by_group = task_.task.average == Average::kGroup;
    stats::PairedSettings settings;
    settings.estimate = estimate_of(task_.task, out.kind);
    settings.by_group = by_group;
    settings.rope = settings_.rope.value_or(task_.task.rope);
    settings.seed = plan_.run.seed;
    settings.threads = settings_.threads;
    const Answers& baseline = answers[settings_.baseline];
    for (std::size_t c = 0; c < answers.size(); ++c) {
      ContestantResult result;
      result.coverage = coverage_of(answers[c]);
      std::vector<double> own, mine, theirs;
      std::vector<std::int32_t> own_groups, pair_groups;
      for (std::size_t unit = 0; unit < groups.size(); ++unit) {
        if (!std::isfinite(answers[c].loss[unit])) continue;
        own.push_back(answers[c].loss[unit]);
        own_groups.push_back(groups[unit]);
        if (!std::isfinite(baseline.loss[unit])) continue;
        mine.push_back(answers[c].loss[unit]);
        theirs.push_back(baseline.loss[unit]);
        pair_groups.push_back(groups[unit]);
      }
      const auto location = [&](stats::Estimate estimate) {
        return own.empty() ? kNoLoss : stats::location(own, own_groups, by_group, estimate);
      };
      result.median_loss = location(stats::Estimate::kMedian);
      result.mean_loss = location(stats::Estimate::kMean);
      if (c == settings_.baseline)
        result.versus_baseline.verdict = stats::Verdict::kBaseline;
      else if (!mine.empty())
        result.versus_baseline = stats::compare_paired(theirs, mine, pair_groups, settings);
      else
        result.versus_baseline = nothing_in_common();
      out.contestants.push_back(std::move(result));
    }
  }

  static stats::PairedResult nothing_in_common() {
    stats::PairedResult none;
    for (double* value :
         {&none.baseline_loss, &none.loss, &none.difference, &none.lo, &none.hi, &none.relative,
          &none.relative_lo, &none.relative_hi, &none.p, &none.p_holm})
      *value = kNoLoss;
    none.verdict = stats::Verdict::kDifferencesOnly;
    none.warning = "no workload in common with the baseline";
    return none;
  }

  Cost cost(std::size_t contestant) const {
    Cost out;
    std::vector<double> load, fit, predict;
    for (std::size_t f = 0; f < folds_[contestant].size(); ++f) {
      const Cost& one = costs_[contestant][f];
      out.peak_memory = std::max(out.peak_memory, one.peak_memory);
      if (one.load_s > 0) load.push_back(one.load_s);
      if (one.fit_s > 0) fit.push_back(one.fit_s);
      const Tables& tables = folds_[contestant][f].tables;
      if (const auto timing = tables.find("timing"); timing != tables.end())
        for (const double ms : timing->second.numbers("predict_ms")) predict.push_back(ms);
    }
    out.load_s = load.empty() ? 0 : learn::quantile(load, 0.5);
    out.fit_s = fit.empty() ? 0 : learn::quantile(fit, 0.5);
    out.predict_p50_ms = predict.empty() ? 0 : learn::quantile(predict, 0.5);
    out.predict_p95_ms = predict.empty() ? 0 : learn::quantile(predict, 0.95);
    return out;
  }

  std::vector<Curve> curves(std::size_t contestant) const {
    std::vector<Curve> out;
    for (const FoldAnswers& fold : folds_[contestant]) {
      const auto table = fold.tables.find("curves");
      if (table == fold.tables.end()) continue;
      std::map<std::string, Curve> by_metric;
      const StringColumn metric = table->second.strings("metric");
      const std::vector<double> step = table->second.numbers("step"),
                                value = table->second.numbers("value");
      for (std::size_t i = 0; i < step.size(); ++i) {
        const std::string name(metric[static_cast<std::int64_t>(i)]);
        Curve& curve = by_metric[name];
        curve.fold = fold.fold->name;
        curve.metric = name;
        curve.steps.push_back(static_cast<std::int64_t>(step[i]));
        curve.values.push_back(value[i]);
      }
      for (auto& [name, curve] : by_metric) out.push_back(std::move(curve));
    }
    return out;
  }

  const ComparePlan& plan_;
  const PlannedTask& task_;
  const AssemblySettings& settings_;
  Units units_;
  std::vector<std::vector<FoldAnswers>> folds_;  // per contestant
  std::vector<std::vector<Cost>> costs_;         // per contestant and fold
};

// Every pair of one family with the practical equivalence of its task.
struct Pair {
  stats::PairedResult* result;
  double rope;
};

// Holm's correction runs over the whole family; each verdict uses its own task's region.
void judge_family(const std::vector<Pair>& family) {
  std::set<double> ropes;
  for (const Pair& pair : family) ropes.insert(pair.rope);
  for (const double rope : ropes) {
    std::vector<stats::PairedResult> copies;
    for (const Pair& pair : family) copies.push_back(*pair.result);
    stats::judge(copies, rope);
    for (std::size_t i = 0; i < family.size(); ++i)
      if (family[i].rope == rope) *family[i].result = copies[i];
  }
}

// References are a family of their own, so that they take no power from the contestants; so are
// results on grouped folds, which repeat the same questions.
void judge_all(Comparison& comparison) {
  std::vector<Pair> families[4];
  for (TaskResult& task : comparison.tasks)
    for (const bool grouped : {false, true})
      for (TargetResult& target : grouped ? task.grouped_targets : task.targets)
        for (std::size_t c = 0; c < target.contestants.size(); ++c) {
          stats::PairedResult& result = target.contestants[c].versus_baseline;
          if (c == comparison.baseline || result.rows == 0) continue;
          const std::size_t family =
              (comparison.contestants[c].reference ? 1 : 0) + (grouped ? 2 : 0);
          families[family].push_back({&result, task.rope});
        }
  for (const std::vector<Pair>& family : families)
    if (!family.empty()) judge_family(family);
}

// Loss relative to the baseline's, averaged over targets. Missing results take the baseline's loss.
double relative_loss(const TaskResult& task, std::size_t contestant, bool& imputed) {
  double sum = 0;
  for (const TargetResult& target : task.targets) {
    const stats::PairedResult& pair = target.contestants[contestant].versus_baseline;
    const bool is_baseline = pair.verdict == stats::Verdict::kBaseline;
    if (!is_baseline && pair.rows == 0) imputed = true;
    if (is_baseline || pair.rows == 0)
      sum += 1;
    else if (pair.baseline_loss > 0)
      sum += pair.loss / pair.baseline_loss;
    else
      sum += pair.loss > 0 ? 1e300 : 1;
  }
  return task.targets.empty() ? 1 : sum / static_cast<double>(task.targets.size());
}

void rank(Comparison& comparison) {
  constexpr std::size_t kFewestContestants = 3, kFewestTasks = 6;
  std::vector<std::size_t> ranked;
  for (std::size_t c = 0; c < comparison.contestants.size(); ++c)
    if (!comparison.contestants[c].reference) ranked.push_back(c);
  if (ranked.size() < kFewestContestants || comparison.tasks.size() < 2) return;
  std::vector<std::vector<double>> losses;
  std::set<std::string> imputed;
  for (const TaskResult& task : comparison.tasks) {
    std::vector<double> row;
    for (const std::size_t c : ranked) {
      bool missing = false;
      row.push_back(relative_loss(task, c, missing));
      if (missing) imputed.insert(comparison.contestants[c].label + " on " + task.task);
    }
    losses.push_back(std::move(row));
  }
  comparison.ranking = stats::rank_contestants(losses);
  for (const std::string& what : imputed)
    comparison.warnings.push_back("ranking: " + what +
                                  " has no result and takes the baseline's loss");
  if (comparison.tasks.size() < kFewestTasks && comparison.ranking.warning.empty())
    comparison.ranking.warning = "fewer than 6 tasks: ranks only";
}

}  // namespace

Comparison assemble(const ComparePlan& plan, const std::vector<Job>& jobs,
                    const std::vector<JobResult>& results, const AssemblySettings& settings) {
  Comparison comparison;
  comparison.seed = plan.run.seed;
  comparison.threads = plan.run.threads;
  comparison.baseline = settings.baseline;
  comparison.shuffled_labels = plan.shuffle_labels;
  for (const PlannedContestant& contestant : plan.contestants)
    comparison.contestants.push_back(contestant.facts);
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    TaskAssembly assembly(plan, t, jobs, results, settings);
    if (plan.tasks[t].grouped_of)
      comparison.tasks[*plan.tasks[t].grouped_of].grouped_targets = assembly.targets();
    else
      comparison.tasks.push_back(assembly.result());
  }
  for (const JobResult& result : results) comparison.jobs.push_back(result.record);
  judge_all(comparison);
  rank(comparison);
  return comparison;
}

}  // namespace omen::host
