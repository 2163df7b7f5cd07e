// SPDX-License-Identifier: Apache-2.0
// Prediction intervals from held-out residuals.
#pragma once

#include <string>
#include <vector>

#include "omen/learn/matrix.hpp"
#include "omen/learn/state.hpp"

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

/// Intervals that know how much was known: residuals are kept apart by a measure of each row, such
/// as its neighbours in training, and a new row gets those of rows like it (Mondrian conformal
/// prediction, doi:10.1007/b106715, chapter 4). Coverage then holds for rows of every kind, and
/// rows near training get narrow intervals.
class ConditionalQuantiles {
 public:
  ConditionalQuantiles() = default;
  /// `knowledge`: of each row when it was held out. Rows are cut into at most `most_bins` parts of
  /// equal size, fewer where a part would have less than 20; pairs with a NaN do not count.
  ConditionalQuantiles(const Vector& held_out, const Vector& y, const Vector& knowledge,
                       int most_bins = 5);

  /// As ResidualQuantiles::half_width(), of rows with like knowledge.
  double half_width(double level, double knowledge) const;

  void save(StateWriter& out, const std::string& name) const;
  void load(const StateReader& in, const std::string& name);

 private:
  std::vector<double> edges_;            ///< between bins, ascending
  std::vector<ResidualQuantiles> bins_;  ///< one more than edges
};

/// The same without bins, for weighted rows: a new row gets the residuals of the rows nearest to it
/// by that measure (local conformal prediction, doi:10.1111/rssb.12443).
class LocalQuantiles {
 public:
  LocalQuantiles() = default;
  /// `knowledge`: of each row when it was held out; `weights`: how much each residual counts. An
  /// interval comes from one of `parts` of all rows, and from 20 at least. Pairs with a NaN do not
  /// count; many residuals are thinned to evenly spaced ranks of knowledge.
  LocalQuantiles(const Vector& held_out, const Vector& y, const Vector& knowledge,
                 const Vector& weights, int parts = 10);

  /// As ResidualQuantiles::half_width(), of rows with like knowledge.
  double half_width(double level, double knowledge) const;

  void save(StateWriter& out, const std::string& name) const;
  void load(const StateReader& in, const std::string& name);

 private:
  std::vector<double> knowledge_;            ///< ascending
  std::vector<double> residuals_, weights_;  ///< of each
  int parts_ = 1;
};

}  // namespace omen::learn
