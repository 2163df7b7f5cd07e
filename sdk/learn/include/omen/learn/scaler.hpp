// SPDX-License-Identifier: Apache-2.0
// Columns with zero mean and unit deviation; what nobody knows counts as the mean.
#pragma once

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// Of the finite values alone; the deviation is 0 where they are all the same or there are none.
struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(const Vector& values);

/// What it learns from one matrix it applies to every other; a constant column is only centred.
class Scaler {
 public:
  Scaler() = default;
  /// As saved: one entry for each column, deviations above 0.
  Scaler(Vector means, Vector deviations);

  void fit(const Matrix& x);
  Vector apply(const Vector& row) const;
  Matrix apply(const Matrix& x) const;

  Index width() const { return means_.size(); }
  const Vector& means() const { return means_; }
  /// 1 for a constant column.
  const Vector& deviations() const { return deviations_; }

 private:
  Vector means_, deviations_;
};

}  // namespace omen::learn
