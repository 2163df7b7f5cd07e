// SPDX-License-Identifier: Apache-2.0
// Principal components of rows.
#pragma once

#include <string>

#include "omen/learn/state.hpp"

namespace omen::learn {

/// Directions of greatest variance, largest first, each of unit length with its largest entry
/// positive, so that equal data give equal signs.
class Pca {
 public:
  /// Keeps at most `count` components; 0: as many as rows and columns allow. Columns are centred,
  /// not scaled. OMEN_INVALID_ARGUMENT for fewer than two rows or a value that is not finite.
  void fit(const Matrix& x, Index count = 0);

  /// One column a component.
  Matrix transform(const Matrix& x) const;
  /// The rows that have these coordinates.
  Matrix restore(const Matrix& coordinates) const;

  const Matrix& components() const { return components_; }  ///< one row each
  const Vector& mean() const { return mean_; }
  const Vector& variance() const { return variance_; }  ///< along each component, over n - 1
  const Vector& share() const { return share_; }        ///< of the variance of all columns

  void save(StateWriter& out, const std::string& prefix) const;
  void load(const StateReader& in, const std::string& prefix);

 private:
  Matrix components_;
  Vector mean_, variance_, share_;
};

}  // namespace omen::learn
