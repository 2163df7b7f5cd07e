// SPDX-License-Identifier: Apache-2.0
// Numbers that a formula gives, so that another program can compute references for them.
#pragma once

#include <cmath>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

inline Matrix waves(Index rows, Index cols, double phase = 0) {
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const auto a = static_cast<double>(i), b = static_cast<double>(j);
      x(i, j) = std::sin(1.3 * a + 2.1 * b + 0.7 * a * b + phase);
    }
  }
  return x;
}

}  // namespace omen::learn
