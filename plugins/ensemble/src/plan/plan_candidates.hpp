// SPDX-License-Identifier: Apache-2.0
// What ensemble.plan chooses between, as rows of the table of candidates.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/planned_workloads.hpp"
#include "rate/design.hpp"

namespace omen::ensemble {

enum class PlanObjective { kTime, kCpu, kEnergy };
PlanObjective parse_objective(const std::string& text);

// A design in which all models train at once, or a planner that schedules them.
struct PlanCandidate {
  std::int32_t id = 0;
  std::optional<Planner> planner;
  Design design = Design::kNone;
  double preprocessors = 1, groups = 1;

  std::string name() const;
};

// Designs with 1, 2, 4 ... preprocessors, all-shared in 2, 4 and 8 groups where rates differ, and
// every planner where models and accelerators are known.
std::vector<PlanCandidate> list_candidates(const PlannedWorkload& workload);

// Columns that the predictor reads instead of those of the workload.
class CandidateColumns {
 public:
  void add(std::int64_t workload_id, const PlanCandidate& candidate,
           const PlannedWorkload& workload);
  Table finish();

 private:
  std::vector<std::int64_t> workload_;
  std::vector<std::int32_t> id_;
  std::vector<std::string> name_, pipeline_, schedule_, pace_;
  std::vector<std::int64_t> preprocessors_, groups_, ranks_;
  std::vector<double> ranks_per_node_;
};

// By workload_id. A candidate without a schedule and a pipeline is OMEN_INVALID_DATA.
std::map<std::int64_t, std::vector<PlanCandidate>> read_candidates(const Dataset& in);

}  // namespace omen::ensemble
