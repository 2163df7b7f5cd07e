// SPDX-License-Identifier: Apache-2.0
// Lists designs and schedules, and ranks them by the time until every model is trained.
#include "plan/plan_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <omen/score_rows.hpp>
#include <tuple>

#include "plan/gantt.hpp"
#include "plan/plan_candidates.hpp"
#include "plan/planned_workloads.hpp"
#include "rate/columns.hpp"

namespace omen::ensemble {
namespace {

constexpr const char* kScorerId = "ensemble.plan";
// Plans within this part of the best time are told apart by their CPU seconds.
constexpr double kCpuShare = 0.01;

using PairKey = std::pair<std::int64_t, std::int32_t>;  // workload, candidate

// What a predictor says of one candidate.
struct Predicted {
  double epoch_s = 0, peak = 0, cpu = 0, power = 0;
  std::string status;
};

std::map<PairKey, Predicted> read_predictions(const Dataset& in) {
  if (!in.has("predictions"))
    throw Error(OMEN_UNAVAILABLE, "ensemble.plan ranks by predictions, and there are none",
                "Name a predictor with --predictor, and its model with --model.");
  const Table table = in.table("predictions");
  const NumberColumn workload(table, "workload_id"), candidate(table, "candidate_id"),
      epoch(table, "epoch_s"), peak(table, "peak_per_s"), cpu(table, "cpu_s_per_image"),
      power(table, "power_w");
  const TextColumn status(table, "status");
  std::map<PairKey, Predicted> rows;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    rows[{static_cast<std::int64_t>(workload.at(row, 0)),
          static_cast<std::int32_t>(candidate.at(row, 0))}] = {
        epoch.at(row), peak.at(row), cpu.at(row, 0), power.at(row, 0), status.at(row)};
  return rows;
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// One candidate with what is found out about it.
struct JudgedPlan {
  PlanCandidate candidate;
  Predicted predicted;
  double total_s = std::numeric_limits<double>::quiet_NaN();
  Schedule schedule;
  std::string blocked;  // why it cannot be chosen
};

// How much longer the predictor takes for the slowest model than a sharp bound would; stages of
// similar rates wait for each other now and then.
double softness(const PlannedWorkload& workload, const Predicted& predicted) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const PlannedModel& model : workload.models) slowest = std::min(slowest, model.curve.at(1));
  if (predicted.peak > 0) slowest = std::min(slowest, predicted.peak);
  return std::max(predicted.epoch_s * slowest / workload.images, 1.0);
}

// The models with nothing faster than preprocessing delivers.
std::vector<PlannedModel> fed_models(const PlannedWorkload& workload, const Predicted& predicted) {
  const double soft = softness(workload, predicted);
  std::vector<PlannedModel> models = workload.models;
  for (PlannedModel& model : models) {
    if (predicted.peak > 0) model.curve = model.curve.capped(predicted.peak);
    model.work *= soft;
  }
  return models;
}

// Seconds until all models are trained side by side, one rank each.
double design_seconds(const PlannedWorkload& workload, const JudgedPlan& plan) {
  if (workload.models.empty() || is_coupled(plan.candidate.design))
    return plan.predicted.epoch_s * workload.most_epochs();
  double longest = 0;
  for (const PlannedModel& model : fed_models(workload, plan.predicted))
    longest = std::max(longest, model.work / model.curve.at(1));
  return longest;
}

void judge(const PlannedWorkload& workload, const PlanRules& rules, JudgedPlan& plan) {
  if (!(plan.predicted.epoch_s > 0)) {
    plan.blocked = "no prediction: " + plan.predicted.status;
    return;
  }
  if (!plan.candidate.planner) {
    plan.total_s = design_seconds(workload, plan);
    const auto models = static_cast<std::int64_t>(workload.models.size());
    if (workload.machine.accelerators > 0 && models > workload.machine.accelerators)
      plan.blocked = std::to_string(models) + " models do not train at once on " +
                     std::to_string(workload.machine.accelerators) + " accelerators";
    return;
  }
  if (workload.models.empty() || workload.machine.accelerators < 1) {
    plan.blocked = "a schedule needs the models of a description and the accelerators";
    return;
  }
  const std::vector<PlannedModel> models = fed_models(workload, plan.predicted);
  plan.schedule = simulate(*plan.candidate.planner, models, true_work(models), workload.machine,
                           workload.costs, rules);
  plan.total_s = plan.schedule.total_s;
}

double cost_of(const JudgedPlan& plan, PlanObjective objective) {
  switch (objective) {
    case PlanObjective::kTime:
      return plan.total_s;
    case PlanObjective::kCpu:
      return plan.predicted.cpu;
    case PlanObjective::kEnergy:
      return plan.predicted.power * plan.total_s;
  }
  return plan.total_s;
}

// Without a cost for any of them all plans would be equally good, and the first one would win.
void require_costs(const std::vector<JudgedPlan>& plans, PlanObjective objective) {
  const auto can_be_chosen = [](const JudgedPlan& plan) { return plan.blocked.empty(); };
  const auto has_cost = [&](const JudgedPlan& plan) {
    const double cost = cost_of(plan, objective);
    return can_be_chosen(plan) && std::isfinite(cost) && cost > 0;
  };
  if (std::none_of(plans.begin(), plans.end(), can_be_chosen) ||
      std::any_of(plans.begin(), plans.end(), has_cost))
    return;
  const char* column = objective == PlanObjective::kEnergy ? "power_w" : "cpu_s_per_image";
  throw Error(OMEN_INVALID_DATA,
              std::string("no plan can be ranked: the model predicts no ") + column,
              std::string("Calibrate it on rows with ") + column +
                  " (omen train ensemble.rate), or use --objective time.");
}

const JudgedPlan* find_reference(const std::vector<JudgedPlan>& plans, bool schedules) {
  for (const JudgedPlan& plan : plans) {
    const bool found = schedules
                           ? plan.candidate.planner == Planner::kFleetGlobal
                           : !plan.candidate.planner && plan.candidate.design == Design::kNone;
    if (found && plan.total_s > 0) return &plan;
  }
  return nullptr;
}

std::string reason_of(const JudgedPlan& plan, const std::vector<JudgedPlan>& plans,
                      const PlannedWorkload& workload) {
  const bool scheduled = plan.candidate.planner.has_value();
  std::string text = digits(plan.total_s) + " s";
  const JudgedPlan* other = find_reference(plans, scheduled);
  if (other && other != &plan)
    text += ", " + digits(other->total_s / plan.total_s) + "x " +
            (scheduled ? planner_name(Planner::kFleetGlobal) : "no sharing");
  if (!scheduled && plan.predicted.cpu > 0) {
    text += ", " + digits(1e3 * plan.predicted.cpu) + " CPU ms an image";
    if (other && other != &plan && other->predicted.cpu > 0)
      text += " instead of " + digits(1e3 * other->predicted.cpu);
  }
  if (scheduled) {
    const double held = plan.total_s * static_cast<double>(workload.machine.accelerators);
    text += ", " + digits(100 * plan.schedule.busy_s / held) + " % busy, " +
            std::to_string(plan.schedule.rounds) +
            (plan.schedule.rounds == 1 ? " round" : " rounds");
    if (is_clairvoyant(*plan.candidate.planner))
      text += workload.knows_epochs ? "; clairvoyant: knows the epochs"
                                    : "; clairvoyant: takes one epoch for each model";
  }
  if (!plan.predicted.status.empty() && plan.predicted.status != "ok")
    text += "; " + plan.predicted.status;
  return text;
}

void add_ranked(std::int64_t id, const std::vector<JudgedPlan>& plans, const PlannedWorkload& of,
                PlanObjective objective, ScoreRows& rows) {
  double most_cpu = 0, worst = 0;
  for (const JudgedPlan& plan : plans) {
    most_cpu = std::max(most_cpu, plan.predicted.cpu);
    if (const double cost = cost_of(plan, objective); std::isfinite(cost))
      worst = std::max(worst, cost);
  }
  std::vector<std::pair<double, const JudgedPlan*>> order;
  for (const JudgedPlan& plan : plans) {
    const double cost = cost_of(plan, objective);
    const double cpu = most_cpu > 0 ? plan.predicted.cpu / most_cpu : 0;
    // What has no cost is worse than all that have one.
    order.emplace_back(std::isfinite(cost) ? cost * (1 + kCpuShare * cpu) : 2 * worst + 1, &plan);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(!a.second->blocked.empty(), a.first, a.second->candidate.id) <
           std::tuple(!b.second->blocked.empty(), b.first, b.second->candidate.id);
  });
  for (const auto& [cost, plan] : order)
    rows.add(id, plan->candidate.id, -cost, plan->blocked.empty(),
             plan->blocked.empty() ? reason_of(*plan, plans, of) : plan->blocked);
}

// The schedule that ends first, as a chart.
void draw_best(const Run& run, std::int64_t id, const std::vector<JudgedPlan>& plans,
               const PlannedWorkload& workload) {
  const JudgedPlan* best = nullptr;
  for (const JudgedPlan& plan : plans)
    if (plan.candidate.planner && plan.blocked.empty() && (!best || plan.total_s < best->total_s))
      best = &plan;
  if (!best) return;
  put_gantt(run, "plan-" + std::to_string(id),
            workload.name + ": " + planner_name(*best->candidate.planner), best->schedule,
            workload.model_names);
}

}  // namespace

PlanRules PlanScorerOptions::rules(const Run& run) const {
  PlanRules made;
  made.flotilla = {distance, distance_share};
  made.alpha = alpha;
  made.seed = run.seed();
  made.check = [&run] { run.step(-1, "plan"); };
  return made;
}

TableStream PlanScorer::enumerate(const Dataset& in, const Run& run) {
  CandidateColumns columns;
  for (const auto& [id, workload] : read_planned(in)) {
    run.step(-1, "candidates");
    for (const PlanCandidate& candidate : list_candidates(workload))
      columns.add(id, candidate, workload);
  }
  return columns.finish();
}

TableStream PlanScorer::score(const Dataset& in, const Run& run) {
  const std::map<std::int64_t, PlannedWorkload> workloads = read_planned(in);
  const std::map<PairKey, Predicted> predictions = read_predictions(in);
  const PlanRules rules = options_.rules(run);
  const PlanObjective objective = parse_objective(options_.objective);
  ScoreRows rows;
  for (const auto& [id, candidates] : read_candidates(in)) {
    const auto workload = workloads.find(id);
    if (workload == workloads.end())
      throw Error(OMEN_INVALID_DATA,
                  "candidates name workload " + std::to_string(id) + ", which is not there");
    std::vector<JudgedPlan> plans;
    for (const PlanCandidate& candidate : candidates) {
      run.step(-1, "plan");
      JudgedPlan plan;
      plan.candidate = candidate;
      if (const auto found = predictions.find({id, candidate.id}); found != predictions.end())
        plan.predicted = found->second;
      judge(workload->second, rules, plan);
      plans.push_back(std::move(plan));
    }
    require_costs(plans, objective);
    add_ranked(id, plans, workload->second, objective, rows);
    draw_best(run, id, plans, workload->second);
  }
  return rows.finish();
}

Component plan_component() {
  return scorer<PlanScorer, PlanScorerOptions>(
             kScorerId, "which design, preprocessors and schedule an ensemble should train with")
      .reads("candidates.pipeline", "candidates.schedule:optional",
             "candidates.preprocessors:optional", "candidates.groups:optional",
             "predictions.epoch_s", "predictions.peak_per_s",
             "predictions.cpu_s_per_image:optional", "predictions.power_w:optional",
             "workloads.n_nodes", "workloads.cores_per_node", "workloads.ranks_per_node:optional",
             "workloads.images:optional", "workloads.nodes:optional",
             "workloads.accelerators:optional", "workloads.accelerators_per_node:optional",
             "workloads.checkpoint_s:optional", "workloads.restart_s:optional",
             "nodes@ensemble/1:optional")
      .caps(OMEN_CAP_BITWISE_REPEATABLE)
      .cite("FLEET, MLSys 2020");
}

}  // namespace omen::ensemble
