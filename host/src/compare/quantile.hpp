// SPDX-License-Identifier: Apache-2.0
// Quantiles of timings, by linear interpolation between order statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace omen::host {

// NaN where there is no value.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace omen::host
