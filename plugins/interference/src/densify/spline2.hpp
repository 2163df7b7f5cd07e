// SPDX-License-Identifier: Apache-2.0
// Splines of degree 2 over B-splines: through all points, or as smooth as a sum of squares allows.
#pragma once

#include "densify/curve.hpp"

namespace omen::interference {

// Knots lie midway between nodes; fewer than three nodes are joined by a line.
std::unique_ptr<Curve> make_interpolating_spline2(const std::vector<double>& x,
                                                  const std::vector<double>& y);

// Knots are added where residuals are largest until their squares sum to at most `most`; then the
// jumps of the second derivative are made as small as `most` allows
// (doi:10.1016/0771-050X(75)90034-0).
std::unique_ptr<Curve> make_smoothing_spline2(const std::vector<double>& x,
                                              const std::vector<double>& y, double most);

}  // namespace omen::interference
