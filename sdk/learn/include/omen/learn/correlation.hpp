// SPDX-License-Identifier: Apache-2.0
// Ranks, and correlations of two columns; NaN where one of them is constant.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace omen::learn {

/// 1 for the smallest; ties get the mean of their places.
std::vector<double> midranks(std::span<const double> values);

double pearson(std::span<const double> x, std::span<const double> y);
double spearman(std::span<const double> x, std::span<const double> y);
/// tau-b, in n log n.
double kendall(std::span<const double> x, std::span<const double> y);

enum class Correlation { kPearson, kSpearman, kKendall };

struct Correlated {
  double value;
  std::size_t rows;  ///< that both columns have
};
/// Rows where one of both is NaN do not count.
Correlated correlate(Correlation kind, std::span<const double> x, std::span<const double> y);

/// Of every two columns, row by row; all columns have the same length. Columns without gaps are
/// sorted once for all their partners.
std::vector<double> correlation_matrix(Correlation kind,
                                       const std::vector<std::vector<double>>& columns,
                                       unsigned threads);

}  // namespace omen::learn
