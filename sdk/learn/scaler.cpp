// SPDX-License-Identifier: Apache-2.0
// Means and deviations of columns with gaps.
#include "omen/learn/scaler.hpp"

#include <cmath>
#include <vector>

#include "omen/learn/errors.hpp"

namespace omen::learn {

Moments moments_of(const Vector& values) {
  std::vector<double> known;
  for (const double value : values) {
    if (std::isfinite(value)) known.push_back(value);
  }
  if (known.empty()) return {};
  const Eigen::Map<const Vector> used(known.data(), static_cast<Index>(known.size()));
  Moments moments;
  moments.mean = used.mean();
  moments.deviation = std::sqrt((used.array() - moments.mean).square().mean());
  // Rounding leaves a constant column with a tiny deviation that would blow up its noise.
  if (moments.deviation <= 1e-12 * std::abs(moments.mean)) moments.deviation = 0;
  return moments;
}

Scaler::Scaler(Vector means, Vector deviations)
    : means_(std::move(means)), deviations_(std::move(deviations)) {
  if (means_.size() != deviations_.size() || !(deviations_.array() > 0).all())
    throw_bad_data("the model's means and deviations do not fit each other",
                   "Train the model again.");
}

void Scaler::fit(const Matrix& x) {
  means_ = Vector::Zero(x.cols());
  deviations_ = Vector::Ones(x.cols());
  for (Index column = 0; column < x.cols(); ++column) {
    const Moments moments = moments_of(x.col(column));
    means_[column] = moments.mean;
    if (moments.deviation > 0) deviations_[column] = moments.deviation;
  }
}

Vector Scaler::apply(const Vector& row) const {
  const Vector scaled = (row - means_).cwiseQuotient(deviations_);
  return scaled.unaryExpr([](double value) { return std::isfinite(value) ? value : 0.0; });
}

Matrix Scaler::apply(const Matrix& x) const {
  Matrix scaled(x.rows(), x.cols());
  for (Index row = 0; row < x.rows(); ++row)
    scaled.row(row) = apply(Vector(x.row(row).transpose())).transpose();
  return scaled;
}

}  // namespace omen::learn
