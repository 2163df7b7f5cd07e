// SPDX-License-Identifier: Apache-2.0
// Folds for inner cross-validation, and the losses that knobs are chosen by.
#pragma once

#include <cstdint>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// Which fold holds each row out; `count` is 0 when there are too few rows to hold any out.
struct Folds {
  int count = 0;
  std::vector<int> of_row;

  std::vector<Index> training_rows(int fold) const;
  std::vector<Index> held_out_rows(int fold) const;
  /// The same assignment for some of the rows, without the folds that they leave empty.
  Folds subset(const std::vector<Index>& rows) const;
};

/// Rows of one group stay together; `groups` may be empty, then every row is its own group.
/// Large groups are placed first, each into the smallest fold so far. With one group only, rows
/// are split instead, because nothing else is left to learn from.
Folds make_folds(Index rows, const std::vector<std::int32_t>& groups, int count,
                 std::uint64_t seed);

/// Mean squared error when `classes` is 0 (one column), else mean negative log-likelihood of the
/// class codes in `y` under the probabilities in `predicted`.
double mean_loss(const Matrix& predicted, const Vector& y, int classes);

Matrix take_rows(const Matrix& x, const std::vector<Index>& rows);
Vector take_rows(const Vector& y, const std::vector<Index>& rows);
/// Writes row i of `values` to row `rows[i]` of `all`.
void put_rows(const Matrix& values, const std::vector<Index>& rows, Matrix& all);

}  // namespace omen::learn
