// SPDX-License-Identifier: Apache-2.0
// Scales of the share, and how sharply they tell marks apart.
#include "cost/share_scale.hpp"

#include <algorithm>
#include <cmath>

namespace omen::loadbalance::cost {
namespace {

constexpr double kShareFloor = 0.5;  // percent; logits of labels stay finite
constexpr double kMarkWidth = 4.0;   // percent over which a share speaks for a class or a device
constexpr double kStep = 25;         // percent between two classes

}  // namespace

double logit_of_share(double percent) {
  const double p = std::clamp(percent, kShareFloor, 100 - kShareFloor) / 100;
  return std::log(p / (1 - p));
}

double share_of_logit(double logit) {
  return 100 / (1 + std::exp(-logit));
}

int class_of_share(double share) {
  return static_cast<int>(std::clamp(std::floor(share / kStep + 0.5), 0.0, 4.0));
}

Matrix class_likeness(const Vector& share) {
  Matrix p(share.size(), static_cast<Index>(kShareClasses.size()));
  for (Index row = 0; row < share.size(); ++row) {
    for (Index c = 0; c < p.cols(); ++c)
      p(row, c) = std::exp(-std::abs(share[row] - kStep * static_cast<double>(c)) / kMarkWidth);
    p.row(row) /= p.row(row).sum();
  }
  return p;
}

Matrix device_likeness(const Vector& share) {
  Matrix p(share.size(), 2);
  for (Index row = 0; row < share.size(); ++row) {
    p(row, 0) = 1 / (1 + std::exp(-(share[row] - 50) / kMarkWidth));
    p(row, 1) = 1 - p(row, 0);
  }
  return p;
}

}  // namespace omen::loadbalance::cost
