// SPDX-License-Identifier: Apache-2.0
// Ranks, and correlations of two columns; NaN where one of them is constant.
#pragma once

#include <span>
#include <vector>

namespace omen::learn {

/// 1 for the smallest; ties get the mean of their places.
std::vector<double> midranks(std::span<const double> values);

double pearson(std::span<const double> x, std::span<const double> y);
double spearman(std::span<const double> x, std::span<const double> y);
/// tau-b, in n log n.
double kendall(std::span<const double> x, std::span<const double> y);

}  // namespace omen::learn
