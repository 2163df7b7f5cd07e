// SPDX-License-Identifier: Apache-2.0
// Least squares whose answer has no negative entries.
#pragma once

#include "omen/learn/matrix.hpp"

namespace omen::learn {

struct NonNegative {
  Vector weights;
  double residual = 0;  ///< |A w - b|
};

/// Minimises |A w - b| over w >= 0 by the active set of Lawson and Hanson,
/// doi:10.1137/1.9781611971217, chapter 23. OMEN_INVALID_ARGUMENT where sizes do not fit or a value
/// is not finite.
NonNegative non_negative_least_squares(const Matrix& a, const Vector& b);

}  // namespace omen::learn
