// SPDX-License-Identifier: Apache-2.0
// One choice for each job, so that all of them together stay under a limit.
#pragma once

#include <optional>
#include <vector>

namespace omen::power {

struct JobChoice {
  double watts = 0, seconds = 0;
  double joules() const { return watts * seconds; }
};

// The index of each job's choice with the fewest joules in sum under `limit_w`; nothing where not
// even the choices with the least power fit. Starts from the best of each job and trades where a
// watt saved costs the fewest joules.
std::optional<std::vector<std::size_t>> plan_node(const std::vector<std::vector<JobChoice>>& jobs,
                                                  double limit_w);

// Choices that no other beats in both time and energy.
std::vector<bool> pareto_front(const std::vector<JobChoice>& choices);

}  // namespace omen::power
