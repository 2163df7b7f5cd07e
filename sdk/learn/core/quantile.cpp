// SPDX-License-Identifier: Apache-2.0
// Quantiles and means of plain numbers.
#include "omen/learn/quantile.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace omen::learn {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  const auto low = values.begin() + below;
  std::nth_element(values.begin(), low, values.end());
  const double share = place - static_cast<double>(below);
  if (share == 0) return *low;
  const double high = *std::min_element(low + 1, values.end());
  // Two infinite neighbours would give NaN.
  return *low == high ? high : *low + share * (high - *low);
}

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace omen::learn
