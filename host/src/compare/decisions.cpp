// SPDX-License-Identifier: Apache-2.0
// Which candidate a contestant's answers lead to, and what that choice truly costs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/answers.hpp"
#include "compare/fold_data.hpp"

namespace omen::host {
namespace {

constexpr double kNoDecision = std::numeric_limits<double>::quiet_NaN();

struct CostedCandidate {
  std::int64_t id = 0;
  std::string name;
  double cost = kNoDecision;  // NaN: infeasible
};

std::vector<std::int64_t> decision_ids(const Table& table, const char* column) {
  std::vector<std::int64_t> ids;
  for (const double value : table.numbers(column)) ids.push_back(static_cast<std::int64_t>(value));
  return ids;
}

using CandidatesById = std::map<std::int64_t, std::vector<CostedCandidate>>;

CandidatesById read_candidates(const PlannedTask& task) {
  const Table& candidates = task.tables.at("candidates");
  const Table& costs = task.tables.at("candidate_costs");
  std::map<std::pair<std::int64_t, std::int64_t>, double> cost;
  const auto cost_owner = decision_ids(costs, "workload_id"),
             cost_id = decision_ids(costs, "candidate_id");
  const std::vector<double> values = costs.numbers(task.task.decision->cost_target);
  for (std::size_t i = 0; i < values.size(); ++i) cost[{cost_owner[i], cost_id[i]}] = values[i];
  const auto owner = decision_ids(candidates, "workload_id"),
             id = decision_ids(candidates, "candidate_id");
  const std::vector<std::string> names = candidates.has("name")
                                             ? column_texts(candidates, candidates.index("name"))
                                             : std::vector<std::string>();
  CandidatesById by_workload;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const auto known = cost.find({owner[i], id[i]});
    by_workload[owner[i]].push_back({id[i], names.empty() ? std::to_string(id[i]) : names[i],
                                     known == cost.end() ? kNoDecision : known->second});
  }
  return by_workload;
}

// The picked candidate of each workload of a fold, or why there is none.
struct Picks {
  std::map<std::int64_t, std::int64_t> candidate;
  std::map<std::int64_t, std::string> by_name;
  std::map<std::int64_t, std::string> refusal;
};

// The scorer's first; it may also say that nothing is feasible.
Picks pick_by_rank(const Table& scores) {
  Picks picks;
  std::map<std::int64_t, double> best;
  const auto owner = decision_ids(scores, "workload_id"), id = decision_ids(scores, "candidate_id");
  const std::vector<double> rank = scores.numbers("rank");
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const auto [at, fresh] = best.try_emplace(owner[i], rank[i]);
    if (!fresh && rank[i] >= at->second) continue;
    at->second = rank[i];
    picks.candidate[owner[i]] = id[i];
  }
  return picks;
}

Picks pick_by_cost(const Table& predictions, const TaskDecision& decision) {
  Picks picks;
  const auto column = predictions.find(decision.cost_target);
  if (!column || !is_number(predictions.type(*column))) return picks;
  const double sign = decision.direction == Direction::kHigher ? -1 : 1;
  std::map<std::int64_t, double> best;
  const auto owner = decision_ids(predictions, "workload_id"),
             id = decision_ids(predictions, "candidate_id");
  const std::vector<double> cost = predictions.numbers(decision.cost_target);
  const std::vector<std::string> status =
      predictions.has("status") ? column_texts(predictions, predictions.index("status"))
                                : std::vector<std::string>(owner.size(), word_of(RowStatus::kOk));
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (!is_answer(status[i]) || !std::isfinite(cost[i])) {
      picks.refusal.try_emplace(owner[i], is_answer(status[i]) ? "no finite value" : status[i]);
      continue;
    }
    const auto [at, fresh] = best.try_emplace(owner[i], sign * cost[i]);
    if (!fresh && sign * cost[i] >= at->second) continue;
    at->second = sign * cost[i];
    picks.candidate[owner[i]] = id[i];
  }
  return picks;
}

// A class names the candidate.
Picks pick_by_class(const Table& predictions, const Task& task) {
  Picks picks;
  const auto target =
      std::find_if(task.targets.begin(), task.targets.end(),
                   [](const TaskTarget& t) { return t.kind == TargetKind::kClass; });
  if (target == task.targets.end() || !predictions.has(target->name)) return picks;
  const auto owner = decision_ids(predictions, "workload_id");
  const auto names = column_texts(predictions, predictions.index(target->name));
  const std::vector<std::string> status =
      predictions.has("status") ? column_texts(predictions, predictions.index("status"))
                                : std::vector<std::string>(owner.size(), word_of(RowStatus::kOk));
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (is_answer(status[i]))
      picks.by_name[owner[i]] = names[i];
    else
      picks.refusal[owner[i]] = status[i];
  }
  return picks;
}

Picks picks_of(const PlannedTask& task, const FoldAnswers& fold) {
  if (const auto scores = fold.tables.find("scores"); scores != fold.tables.end())
    return pick_by_rank(scores->second);
  const auto predictions = fold.tables.find("predictions");
  if (task.scorer.info || predictions == fold.tables.end()) return {};
  return predictions->second.has("candidate_id")
             ? pick_by_cost(predictions->second, *task.task.decision)
             : pick_by_class(predictions->second, task.task);
}

class DecisionCollector {
 public:
  explicit DecisionCollector(const PlannedTask& task)
      : task_(task),
        lower_(task.task.decision->direction != Direction::kHigher),
        candidates_(read_candidates(task)),
        ids_(decision_ids(task.tables.at("workloads"), "workload_id")) {
    Answers& answers = out_.answers;
    for (auto* values : {&answers.predicted, &answers.lo, &answers.hi, &answers.loss})
      values->assign(ids_.size(), kNoDecision);
    answers.predicted_class.resize(ids_.size());
    answers.status.resize(ids_.size());
    answers.expected.assign(ids_.size(), false);
    out_.best.assign(ids_.size(), kNoDecision);
    out_.best_name.resize(ids_.size());
    sum_.assign(ids_.size(), 0);
    times_.assign(ids_.size(), 0);
  }

  void add(const FoldAnswers& fold) {
    const Picks picks = picks_of(task_, fold);
    for (const std::int64_t row : fold.fold->test) {
      const auto at = static_cast<std::size_t>(row);
      const auto known = candidates_.find(ids_[at]);
      if (known == candidates_.end() || !has_feasible(known->second)) continue;
      out_.answers.expected[at] = true;
      out_.best[at] = best_of(known->second).cost;
      out_.best_name[at] = best_of(known->second).name;
      const CostedCandidate* picked = find(known->second, picks, ids_[at]);
      if (picked)
        decide(at, known->second, *picked);
      else
        refuse(at, reason(fold, picks, ids_[at]));
    }
  }

  DecisionAnswers finish() {
    for (std::size_t at = 0; at < times_.size(); ++at)
      if (times_[at] > 0 && is_answer(out_.answers.status[at]))
        out_.answers.loss[at] = sum_[at] / times_[at];
    return std::move(out_);
  }

 private:
  static bool has_feasible(const std::vector<CostedCandidate>& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const CostedCandidate& c) { return std::isfinite(c.cost); });
  }

  static const CostedCandidate* find(const std::vector<CostedCandidate>& all, const Picks& picks,
                                     std::int64_t workload) {
    const auto id = picks.candidate.find(workload);
    const auto name = picks.by_name.find(workload);
    for (const CostedCandidate& candidate : all)
      if ((id != picks.candidate.end() && candidate.id == id->second) ||
          (name != picks.by_name.end() && candidate.name == name->second))
        return &candidate;
    return nullptr;
  }

  static std::string reason(const FoldAnswers& fold, const Picks& picks, std::int64_t workload) {
    if (const auto at = picks.refusal.find(workload); at != picks.refusal.end()) return at->second;
    if (fold.record->outcome != Outcome::kOk)
      return std::string(word_of(fold.record->outcome)) + ": " + fold.record->message;
    return picks.by_name.count(workload) ? "picked no candidate of this workload" : "no pick";
  }

  void refuse(std::size_t at, const std::string& why) {
    if (out_.answers.status[at].empty() || is_answer(out_.answers.status[at]))
      out_.answers.status[at] = why;
  }

  const CostedCandidate& best_of(const std::vector<CostedCandidate>& all) const {
    return *std::min_element(all.begin(), all.end(),
                             [&](const CostedCandidate& a, const CostedCandidate& b) {
                               if (std::isfinite(a.cost) != std::isfinite(b.cost))
                                 return std::isfinite(a.cost);
                               return lower_ ? a.cost < b.cost : a.cost > b.cost;
                             });
  }

  // An infeasible pick leaves the user with the default, or where there is none with the worst.
  void decide(std::size_t at, const std::vector<CostedCandidate>& all,
              const CostedCandidate& picked) {
    const CostedCandidate& best = best_of(all);
    double by_default = kNoDecision, worst = best.cost;
    for (const CostedCandidate& candidate : all) {
      if (candidate.name == task_.task.decision->default_candidate) by_default = candidate.cost;
      if (std::isfinite(candidate.cost))
        worst = lower_ ? std::max(worst, candidate.cost) : std::min(worst, candidate.cost);
    }
    const bool feasible = std::isfinite(picked.cost);
    const stats::Decision decision{feasible ? picked.cost : kNoDecision, best.cost, by_default,
                                   feasible};
    out_.decisions.push_back(decision);
    stats::Decision charged = decision;
    if (!feasible && !std::isfinite(by_default)) charged = {worst, best.cost, by_default, true};
    const double regret = stats::decision_regret(charged, lower_);
    if (!std::isfinite(regret)) return refuse(at, "regret not defined for this cost");
    sum_[at] += regret;
    ++times_[at];
    out_.answers.predicted[at] = feasible ? picked.cost : charged.picked;
    out_.answers.predicted_class[at] = picked.name;
    if (out_.answers.status[at].empty()) out_.answers.status[at] = word_of(RowStatus::kOk);
  }

  const PlannedTask& task_;
  bool lower_;
  CandidatesById candidates_;
  std::vector<std::int64_t> ids_;
  std::vector<double> sum_, times_;
  DecisionAnswers out_;
};

}  // namespace

DecisionAnswers collect_decisions(const PlannedTask& task, const std::vector<FoldAnswers>& folds) {
  DecisionCollector collector(task);
  for (const FoldAnswers& fold : folds) collector.add(fold);
  return collector.finish();
}

}  // namespace omen::host
