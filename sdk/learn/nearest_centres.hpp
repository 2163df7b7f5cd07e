// SPDX-License-Identifier: Apache-2.0
// Which centre each row is nearest to, and the sums of the rows of each.
#pragma once

#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

struct NearestSums {
  Matrix sums;  // one row a centre
  std::vector<Index> members;
  bool changed = false;  // a row has another centre than before
};

// Writes the nearest centre of each row, the first of equally near ones. Neither that nor a sum
// depends on `threads`.
NearestSums nearest_centres(const Matrix& centres, const Matrix& x, unsigned threads,
                            std::vector<Index>& of_row);

}  // namespace omen::learn
