// SPDX-License-Identifier: Apache-2.0
// How much of the training data lies near a new row: what tells an answer from a guess.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/learn/matrix.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

/// Counts neighbours with a weight that falls with their distance (a kernel density that is not
/// normalised, doi:10.1214/aoms/1177704472): a row at distance 0 counts 1, one at `bandwidth` 0.37.
/// The count has a meaning of its own, so one threshold holds for training sets of any size; rows
/// should be scaled so that distances mean the same everywhere, such as to unit length.
class Density {
 public:
  Density() = default;
  explicit Density(double bandwidth) : bandwidth_(bandwidth) {}

  /// Keeps the rows, in single precision. `groups` holds the number of the group of each row;
  /// empty: every row is a group of its own.
  void fit(const Matrix& rows, std::vector<std::int64_t> groups = {});
  /// More rows of the same columns, each a group of its own.
  void add(const Matrix& rows);
  /// Neighbours of each row; infinite where nothing was fitted, as then nothing speaks against it.
  Vector neighbours(const Matrix& rows) const;
  /// The same with groups instead of rows, each as far away as its nearest row: many rows of one
  /// group, such as launches of one program, are then no more than one.
  Vector groups_near(const Matrix& rows, double bandwidth) const;

  void save(StateWriter& out, const std::string& name) const;
  /// OMEN_INVALID_DATA where the rows do not have `columns`.
  void load(const StateReader& in, const std::string& name, Index columns);

 private:
  double bandwidth_ = 1;
  Matrix rows_;
  std::vector<std::int64_t> groups_;  ///< of each row, from 0
};

}  // namespace omen::learn
