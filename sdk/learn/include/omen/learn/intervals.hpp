// SPDX-License-Identifier: Apache-2.0
// Prediction intervals from held-out residuals.
#pragma once

#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// The half width of an interval is a quantile of the absolute residuals that cross-validation
/// left on rows it had not seen: split conformal prediction (doi:10.1080/01621459.2017.1307116)
/// with the folds in turn as calibration set.
class ResidualQuantiles {
 public:
  ResidualQuantiles() = default;
  /// Pairs with a NaN do not count. Many residuals are thinned to evenly spaced ranks.
  ResidualQuantiles(const Vector& held_out, const Vector& y);
  explicit ResidualQuantiles(std::vector<double> sorted) : sorted_(std::move(sorted)) {}

  /// Covers a new row with probability `level`; NaN without residuals. Where there are too few
  /// residuals for that level, the largest one.
  double half_width(double level) const;
  const std::vector<double>& sorted() const { return sorted_; }

 private:
  std::vector<double> sorted_;
};

}  // namespace omen::learn
