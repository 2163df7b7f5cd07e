// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over one axis, for curves with an error bar.
#pragma once

#include <Eigen/Core>

#include "densify/curve.hpp"

namespace omen::interference {

// Matern 5/2 with the length and noise of the greatest likelihood among a few.
class ProcessCurve final : public Curve {
 public:
  ProcessCurve(const std::vector<double>& x, const std::vector<double>& y);
  double at(double x) const override;
  double deviation(double x) const override;

 private:
  struct Scales {
    double length, noise;
  };
  double likelihood(const Scales& scales);
  Eigen::VectorXd similar(double x) const;

  std::vector<double> x_;
  Eigen::VectorXd y_, weights_;
  Eigen::MatrixXd inverse_;
  double mean_ = 0, spread_ = 1;
  Scales scales_{1, 1e-4};
};

}  // namespace omen::interference
