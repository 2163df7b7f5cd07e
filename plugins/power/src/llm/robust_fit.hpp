// SPDX-License-Identifier: Apache-2.0
// Least squares over a few parameters, where some rows are wrong.
#pragma once

#include <functional>
#include <omen/learn/matrix.hpp>

namespace omen::power {

struct RobustFitOptions {
  double scale = 0.1;  // residuals far above it count by their size instead of their square
  int most_steps = 40;
  double enough = 1e-7;                              // relative gain of a step below which it ends
  std::function<void(double)> step = [](double) {};  // progress; may throw
};

// Minimises the sum of soft absolute residuals plus the squares of weight * (x - start), so that
// parameters about which the rows say nothing stay where they are: steps of Levenberg and Marquardt
// (doi:10.1137/0111030) with differences as derivatives.
learn::Vector robust_fit(const std::function<learn::Vector(const learn::Vector&)>& residuals,
                         const learn::Vector& start, const learn::Vector& weight,
                         const RobustFitOptions& options);

}  // namespace omen::power
