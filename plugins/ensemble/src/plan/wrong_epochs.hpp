// SPDX-License-Identifier: Apache-2.0
// What a clairvoyant planner is worth when it is told wrong epochs.
#pragma once

#include "plan/schedule.hpp"

namespace omen::ensemble {

struct WrongEpochs {
  double mean_s = 0, longest_s = 0;
};

// Totals over `draws` random errors of each model's work, half of them anywhere within +-`error`,
// half at its ends.
WrongEpochs simulate_wrong_epochs(Planner planner, const std::vector<PlannedModel>& models,
                                  const Machine& machine, const PlanRules& rules, double error,
                                  int draws);

}  // namespace omen::ensemble
