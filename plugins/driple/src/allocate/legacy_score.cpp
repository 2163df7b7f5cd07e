// SPDX-License-Identifier: Apache-2.0
// Sums over the four resources.
#include "allocate/legacy_score.hpp"

namespace omen::driple {

double legacy_efficiency(const LegacyVector& y, const LegacyWeights& weights) {
  double sum = 0;
  for (std::size_t resource = 0; resource < weights.size(); ++resource) {
    const double burst = y[4 * resource], peak = y[4 * resource + 2];
    if (burst > 0) sum += weights[resource] * peak / burst;
  }
  return sum;
}

double legacy_time(const LegacyVector& y) {
  return y[3] + y[7] + y[11] + y[15];
}

std::vector<double> legacy_running_times(const std::vector<LegacyVector>& gpus) {
  std::vector<double> sums;
  double sum = 0;
  for (const LegacyVector& y : gpus) sums.push_back(sum += legacy_time(y));
  return sums;
}

}  // namespace omen::driple
