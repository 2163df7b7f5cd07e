// SPDX-License-Identifier: Apache-2.0
// Trainings that are never stopped: their order, their accelerators, and when each one runs.
#pragma once

#include "plan/schedule.hpp"

namespace omen::ensemble {

// One accelerator for each model.
std::vector<std::int64_t> ones(const std::vector<PlannedModel>& models);

// Members with these accelerators, the longest training first as far as `believed` says.
std::vector<Member> longest_first(const std::vector<PlannedModel>& models,
                                  const std::vector<double>& believed,
                                  const std::vector<std::int64_t>& accelerators);

// The shortest deadline whose area fits, each model with the fewest accelerators that meet it;
// deadlines up to twice that are tried, and the list that ends first is taken.
std::vector<Member> moldable(const std::vector<PlannedModel>& models,
                             const std::vector<double>& believed, const Machine& machine);

// Whenever accelerators are free, the first of the list that fits starts.
Schedule run_list(const std::vector<PlannedModel>& models, const std::vector<Member>& list,
                  const Machine& machine);

}  // namespace omen::ensemble
