// SPDX-License-Identifier: Apache-2.0
// What a few measurements say about the answers of a model that was trained elsewhere.
#pragma once

#include <string>

#include "omen/learn/matrix.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

struct CorrectionScales {
  double shared = 1;     ///< variance that all rows have in common, such as a slower machine
  double near = 1;       ///< variance that only rows near each other share
  double noise = 0.5;    ///< variance of a measurement
  double bandwidth = 1;  ///< distance over which two rows count as near
  /// Where it is above `noise`, the variance of a measurement lies between the two: as much as
  /// makes each of three or more rows likely beside the others, with tails that let single rows be
  /// far off (a t distribution, doi:10.1080/01621459.1989.10478852).
  double most_noise = 0;
};

/// A Gaussian process over the residuals of measured rows (doi:10.7551/mitpress/3206.001.0001,
/// chapter 2) that starts from 0: without measurements nothing changes, a single one moves all rows
/// a little and rows like it more.
class Correction {
 public:
  Correction() = default;
  explicit Correction(CorrectionScales scales) : scales_(scales) {}

  /// Residuals are measured minus answered, a column for each answer.
  void add(const Matrix& rows, const Matrix& residuals);
  /// What to add to the answers of each row; zeros before anything was added.
  Matrix of(const Matrix& rows) const;
  Index count() const { return rows_.rows(); }
  const Matrix& rows() const { return rows_; }

  void save(StateWriter& out, const std::string& name) const;
  /// OMEN_INVALID_DATA where the shapes do not fit.
  void load(const StateReader& in, const std::string& name, Index columns, Index answers);

 private:
  Matrix kernel(const Matrix& a, const Matrix& b) const;
  double noise_of(const Vector& residuals) const;
  void solve();

  CorrectionScales scales_;
  Matrix rows_, residuals_, weights_;
};

}  // namespace omen::learn
