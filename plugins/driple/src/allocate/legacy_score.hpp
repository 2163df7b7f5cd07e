// SPDX-License-Identifier: Apache-2.0
// The scores of the original allocator, from sixteen numbers for each GPU.
#pragma once

#include <array>
#include <vector>

namespace omen::driple {

// Of memory utilisation, GPU utilisation, CPU utilisation and GPU memory, in this order: share of
// samples in the burst, in the idle phase, above the peak, and execution time.
using LegacyVector = std::array<double, 16>;
using LegacyWeights = std::array<double, 4>;

// Shares of busy samples above the peak, summed over the resources; a resource without a burst
// counts nothing.
double legacy_efficiency(const LegacyVector& y, const LegacyWeights& weights = {1, 1, 1, 1});
// Predicted times, summed over the resources.
double legacy_time(const LegacyVector& y);

// The published program never cleared its sum between GPUs, so that with positive times the first
// always won; kept to show what its results came from.
std::vector<double> legacy_running_times(const std::vector<LegacyVector>& gpus);

}  // namespace omen::driple
