// SPDX-License-Identifier: Apache-2.0
// The median of plain numbers, which quantiles and robust fits build on.
#ifndef OMEN_MEDIAN_HPP
#define OMEN_MEDIAN_HPP

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace omen {

// The mean of both middle ones for an even count; NaN for no numbers. None may be NaN.
inline double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace omen

#endif  // OMEN_MEDIAN_HPP
