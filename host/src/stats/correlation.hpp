// SPDX-License-Identifier: Apache-2.0
// Correlations of two columns; NaN where one of them is constant.
#pragma once

#include <span>

namespace omen::host::stats {

double pearson(std::span<const double> x, std::span<const double> y);
double spearman(std::span<const double> x, std::span<const double> y);
// tau-b, in n log n.
double kendall(std::span<const double> x, std::span<const double> y);

}  // namespace omen::host::stats
