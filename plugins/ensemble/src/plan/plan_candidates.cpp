// SPDX-License-Identifier: Apache-2.0
// Designs and planners to rows and back.
#include "plan/plan_candidates.hpp"

#include <algorithm>
#include <omen/error.hpp>
#include <omen/join.hpp>

#include "rate/columns.hpp"

namespace omen::ensemble {
namespace {

bool rates_differ(const PlannedWorkload& workload) {
  const auto differs = [&](const PlannedModel& model) {
    return model.curve.at(1) != workload.models.front().curve.at(1);
  };
  return std::any_of(workload.models.begin(), workload.models.end(), differs);
}

PlanCandidate candidate_of(std::string_view pipeline, std::string_view schedule) {
  PlanCandidate made;
  if (!schedule.empty()) {
    made.planner = parse_planner(schedule);
    if (!made.planner)
      throw Error(OMEN_INVALID_DATA, "schedule '" + std::string(schedule) + "' is not known",
                  "Known are " + join(all_planners(), ", ", planner_name) + ".");
  }
  const auto named = parse_design(pipeline);
  if (!named)
    throw Error(OMEN_INVALID_DATA, "pipeline '" + std::string(pipeline) + "' is not known",
                "Known are " + join(design_names()) + ".");
  made.design = named->design;
  made.preprocessors = named->preprocessors.value_or(1);
  return made;
}

}  // namespace

PlanObjective parse_objective(const std::string& text) {
  constexpr std::pair<const char*, PlanObjective> kObjectives[] = {
      {"time", PlanObjective::kTime},
      {"cpu", PlanObjective::kCpu},
      {"energy", PlanObjective::kEnergy}};
  for (const auto& [name, objective] : kObjectives)
    if (text == name) return objective;
  throw Error(OMEN_INVALID_ARGUMENT, "objective '" + text + "' is not known");
}

std::string PlanCandidate::name() const {
  if (planner) return planner_name(*planner);
  std::string text = design_name(design);
  const auto whole = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  if (has_preprocessors(design)) text += " p=" + whole(preprocessors);
  if (groups > 1) text += " in " + whole(groups) + " groups";
  return text;
}

std::vector<PlanCandidate> list_candidates(const PlannedWorkload& workload) {
  std::vector<PlanCandidate> list;
  const auto add = [&](Design design, double preprocessors, double groups = 1) {
    list.push_back({static_cast<std::int32_t>(list.size()), {}, design, preprocessors, groups});
  };
  add(Design::kNone, 1);
  add(Design::kAllShared, workload.ranks);
  constexpr int kMostGroups = 8;
  if (!workload.models.empty() && rates_differ(workload))
    for (int groups = 2; groups <= kMostGroups && groups <= workload.ranks; groups *= 2)
      add(Design::kAllShared, workload.ranks, groups);
  for (const Design design : {Design::kSingleBroadcast, Design::kMultiBroadcast})
    for (double p = 1; p <= workload.ranks; p *= 2) add(design, p);
  if (workload.nodes <= 1)
    for (double p = 1; p <= std::min(workload.ranks, workload.cores); p *= 2)
      add(Design::kSharedMemory, p);
  if (!workload.models.empty() && workload.machine.accelerators > 0)
    for (const Planner planner : all_planners())
      list.push_back({static_cast<std::int32_t>(list.size()), planner, Design::kAllShared,
                      static_cast<double>(workload.machine.accelerators)});
  return list;
}

void CandidateColumns::add(std::int64_t workload_id, const PlanCandidate& candidate,
                           const PlannedWorkload& workload) {
  workload_.push_back(workload_id);
  id_.push_back(candidate.id);
  name_.push_back(candidate.name());
  pipeline_.emplace_back(design_name(candidate.design));
  schedule_.emplace_back(candidate.planner ? planner_name(*candidate.planner) : "");
  // A schedule shares among all accelerators, and its models do not wait for each other.
  pace_.emplace_back(pace_name(!candidate.planner && is_coupled(candidate.design)));
  // Whole numbers, as descriptions and tables have them.
  preprocessors_.push_back(static_cast<std::int64_t>(candidate.preprocessors));
  groups_.push_back(static_cast<std::int64_t>(candidate.groups));
  ranks_.push_back(candidate.planner ? workload.machine.accelerators
                                     : static_cast<std::int64_t>(workload.ranks));
  ranks_per_node_.push_back(candidate.planner ? static_cast<double>(workload.machine.per_node)
                            : candidate.design == Design::kSharedMemory ? workload.ranks
                                                                        : workload.ranks_per_node);
}

Table CandidateColumns::finish() {
  return TableBuilder()
      .add("workload_id", std::move(workload_))
      .add("candidate_id", std::move(id_))
      .add_strings("name", name_)
      .add_categories("pipeline", pipeline_)
      .add_categories("schedule", schedule_)
      .add_categories("pace", pace_)
      .add("preprocessors", std::move(preprocessors_))
      .add("groups", std::move(groups_))
      .add("n_nodes", std::move(ranks_))
      .add("ranks_per_node", std::move(ranks_per_node_))
      .finish();
}

std::map<std::int64_t, std::vector<PlanCandidate>> read_candidates(const Dataset& in) {
  const Table table = in.table("candidates");
  const NumberColumn workload(table, "workload_id"), id(table, "candidate_id"),
      preprocessors(table, "preprocessors"), groups(table, "groups");
  const TextColumn pipeline(table, "pipeline"), schedule(table, "schedule");
  if (!table.has("pipeline"))
    throw Error(OMEN_INVALID_DATA, "candidates have no column 'pipeline'",
                "Leave --candidates out: ensemble.plan lists designs and schedules itself.");
  std::map<std::int64_t, std::vector<PlanCandidate>> all;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    PlanCandidate one = candidate_of(pipeline.at(row), schedule.at(row));
    one.id = static_cast<std::int32_t>(id.at(row, static_cast<double>(row)));
    one.preprocessors = preprocessors.at(row, one.preprocessors);
    one.groups = groups.at(row, 1);
    all[static_cast<std::int64_t>(workload.at(row, 0))].push_back(one);
  }
  return all;
}

}  // namespace omen::ensemble
