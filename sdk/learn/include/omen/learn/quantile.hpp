// SPDX-License-Identifier: Apache-2.0
// Quantiles and means of plain numbers.
#pragma once

#include <span>
#include <vector>

#include "omen/median.hpp"

namespace omen::learn {

/// Linear between order statistics, as NumPy and R (type 7) do it. NaN for no values.
double quantile(std::vector<double> values, double q);
using omen::median;
double mean(std::span<const double> values);

}  // namespace omen::learn
