// SPDX-License-Identifier: Apache-2.0
// Plans by drawn beliefs, and runs what is true.
#include "plan/wrong_epochs.hpp"

#include <algorithm>
#include <omen/learn/random.hpp>

namespace omen::ensemble {

WrongEpochs simulate_wrong_epochs(Planner planner, const std::vector<PlannedModel>& models,
                                  const Machine& machine, const PlanRules& rules, double error,
                                  int draws) {
  WrongEpochs result;
  for (int draw = 0; draw < draws; ++draw) {
    learn::Random random(rules.seed, static_cast<std::uint64_t>(draw));
    std::vector<double> believed = true_work(models);
    for (double& work : believed) {
      const double u = 2 * random.uniform() - 1;
      work *= 1 + error * (draw % 2 == 0 ? u : u < 0 ? -1.0 : 1.0);
    }
    const double total = simulate(planner, models, believed, machine, {}, rules).total_s;
    result.mean_s += total / draws;
    result.longest_s = std::max(result.longest_s, total);
  }
  return result;
}

}  // namespace omen::ensemble
