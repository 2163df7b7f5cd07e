// SPDX-License-Identifier: Apache-2.0
// Damped steps on reweighted rows.
#include "llm/robust_fit.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace omen::power {
namespace {

using learn::Index;
using learn::Vector;
using Jacobian = Eigen::MatrixXd;

double cost_of(const Vector& residuals, const Vector& pull, double scale) {
  double sum = pull.squaredNorm();
  for (const double r : residuals)
    sum += 2 * scale * scale * (std::sqrt(1 + r * r / (scale * scale)) - 1);
  return sum;
}

Jacobian jacobian_of(const std::function<Vector(const Vector&)>& residuals, const Vector& x,
                     const Vector& here) {
  constexpr double kDelta = 1e-5;
  Jacobian jacobian(here.size(), x.size());
  for (Index c = 0; c < x.size(); ++c) {
    Vector moved = x;
    moved[c] += kDelta;
    jacobian.col(c) = (residuals(moved) - here) / kDelta;
  }
  return jacobian;
}

}  // namespace

Vector robust_fit(const std::function<Vector(const Vector&)>& residuals, const Vector& start,
                  const Vector& weight, const RobustFitOptions& options) {
  Vector x = start, here = residuals(x);
  const auto pull = [&](const Vector& at) { return Vector(weight.cwiseProduct(at - start)); };
  double cost = cost_of(here, pull(x), options.scale), damping = 1e-2;
  for (int step = 0; step < options.most_steps; ++step) {
    options.step(static_cast<double>(step) / options.most_steps);
    const Jacobian jacobian = jacobian_of(residuals, x, here);
    const Vector row_weight = (1 + (here / options.scale).array().square()).sqrt().inverse();
    const Jacobian weighted = row_weight.asDiagonal() * jacobian;
    Jacobian normal = jacobian.transpose() * weighted;
    normal.diagonal() += weight.cwiseAbs2();
    const Vector gradient = weighted.transpose() * here + weight.cwiseProduct(pull(x));
    const double before = cost;
    for (int attempt = 0; attempt < 12; ++attempt, damping *= 4) {
      Jacobian damped = normal;
      damped.diagonal() += damping * normal.diagonal() + Vector::Constant(x.size(), 1e-12);
      const Vector next = x - damped.ldlt().solve(gradient);
      if (!next.allFinite()) continue;
      const Vector there = residuals(next);
      const double reached = there.allFinite() ? cost_of(there, pull(next), options.scale) : cost;
      if (reached >= cost) continue;
      x = next, here = there, cost = reached;
      damping = std::max(damping / 8, 1e-9);
      break;
    }
    if (before - cost <= options.enough * before) break;
  }
  return x;
}

}  // namespace omen::power
