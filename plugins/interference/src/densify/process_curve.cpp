// SPDX-License-Identifier: Apache-2.0
// doi:10.7551/mitpress/3206.001.0001, chapter 2, over one column.
#include "densify/process_curve.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

namespace omen::interference {
namespace {

using Eigen::Index;

double matern_52(double distance, double length) {
  const double r = std::sqrt(5.0) * std::abs(distance) / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

}  // namespace

ProcessCurve::ProcessCurve(const std::vector<double>& x, const std::vector<double>& y)
    : x_(x), y_(Eigen::Map<const Eigen::VectorXd>(y.data(), static_cast<Index>(y.size()))) {
  mean_ = y_.mean();
  spread_ = std::max(std::sqrt((y_.array() - mean_).square().mean()), 1e-9);
  y_ = (y_.array() - mean_) / spread_;
  const double range = x_.back() - x_.front();
  Scales best = scales_;
  double most = -std::numeric_limits<double>::infinity();
  for (const double part : {0.15, 0.25, 0.4, 0.6, 1.0, 1.6})
    for (const double noise : {1e-4, 1e-3, 1e-2, 5e-2}) {
      const double value = likelihood({part * range, noise});
      if (value <= most) continue;
      most = value;
      best = {part * range, noise};
    }
  likelihood(best);
}

double ProcessCurve::likelihood(const Scales& scales) {
  scales_ = scales;
  const Index n = y_.size();
  Eigen::MatrixXd gram(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      gram(i, j) = matern_52(x_[static_cast<std::size_t>(i)] - x_[static_cast<std::size_t>(j)],
                             scales.length);
  gram.diagonal().array() += scales.noise;
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);
  inverse_ = factor.solve(Eigen::MatrixXd::Identity(n, n));
  weights_ = inverse_ * y_;
  return -0.5 * y_.dot(weights_) - factor.matrixLLT().diagonal().array().log().sum();
}

Eigen::VectorXd ProcessCurve::similar(double x) const {
  Eigen::VectorXd k(y_.size());
  for (Index i = 0; i < k.size(); ++i)
    k[i] = matern_52(x - x_[static_cast<std::size_t>(i)], scales_.length);
  return k;
}

double ProcessCurve::at(double x) const {
  return mean_ + spread_ * similar(x).dot(weights_);
}

double ProcessCurve::deviation(double x) const {
  const Eigen::VectorXd k = similar(x);
  return spread_ * std::sqrt(std::max(1 - k.dot(inverse_ * k), 0.0) + scales_.noise);
}

}  // namespace omen::interference
