// SPDX-License-Identifier: Apache-2.0
// Whole trainings of many models on a machine, each planner simulated event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/flotilla.hpp"

namespace omen::ensemble {

enum class Planner {
  kHomogeneous,   // rounds of models on one accelerator each, a round ends with its slowest
  kFleetGlobal,   // flotillas, made anew from all that is unfinished
  kFleetLocal,    // one flotilla, whose freed accelerators are filled up
  kLongestFirst,  // one accelerator each, the longest training first
  kMoldable,      // accelerators chosen for one deadline, the longest training first
};

const std::vector<Planner>& all_planners();
const char* planner_name(Planner planner);
std::optional<Planner> parse_planner(std::string_view name);
// Whether it needs to know how long each model will train.
bool is_clairvoyant(Planner planner);

struct Machine {
  std::int64_t accelerators = 1, per_node = 1;
};

// What it takes to stop a round and go on with another.
struct StopCosts {
  double checkpoint_s = 0, restart_s = 0;
  double total() const { return checkpoint_s + restart_s; }
};

struct PlanRules {
  FlotillaRule flotilla;
  double alpha = 0.8;  // a round stops when less than this part of the accelerators is busy
  std::uint64_t seed = 1;
  int orders = 50;              // random orders that rounds of models are averaged over
  std::function<void()> check;  // called now and then; may throw
};

struct Span {
  std::size_t model = 0;
  std::int64_t accelerators = 1;
  double begin = 0, end = 0;  // seconds
};

struct Schedule {
  double total_s = 0;
  int rounds = 1;     // flotillas, or rounds of models
  double busy_s = 0;  // accelerator seconds that train
  std::vector<Span> spans;
  // Accelerators of each round, for planners that place them.
  std::vector<std::vector<Placement>> placements;
};

// `believed` is the work that a clairvoyant planner decides by; the simulation runs the models'
// own. Other planners do not look at it.
Schedule simulate(Planner planner, const std::vector<PlannedModel>& models,
                  const std::vector<double>& believed, const Machine& machine,
                  const StopCosts& costs, const PlanRules& rules);

// The work of the models, which a planner that is never wrong believes in.
std::vector<double> true_work(const std::vector<PlannedModel>& models);

// No schedule can be shorter than this: all work at its best efficiency, or one model alone.
double lower_bound(const std::vector<PlannedModel>& models, const Machine& machine);

}  // namespace omen::ensemble
