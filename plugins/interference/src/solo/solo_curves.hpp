// SPDX-License-Identifier: Apache-2.0
// Values of one job over its batch size, where at least two sizes were measured.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "densify/curve.hpp"

namespace omen::interference {

enum class CurveScale { kPercent, kPositive, kPlain };

// Percentages are lines over log2 of the batch. What is above 0 follows a law, a + b times the
// batch (or its inverse, for rates, whichever fits better), and a smooth curve through what the law
// misses. Two values at one size count by their mean.
class SoloCurves {
 public:
  explicit SoloCurves(CurveScale scale = CurveScale::kPlain) : scale_(scale) {}
  void add(const std::string& job, double batch, double value);
  // Nothing where the job has fewer than two sizes, or one that is not known.
  std::optional<double> at(const std::string& job, double batch) const;
  // The size lies more than twofold beyond those of the job.
  bool is_outside(const std::string& job, double batch) const;
  // What sizes between others are missed by when they are left out: points, or logarithms of
  // ratios.
  std::vector<double> left_out() const;

 private:
  struct Measured {
    double sum = 0, count = 0;
  };
  using Points = std::map<double, Measured>;  // by batch
  double value_at(const Points& points, double batch) const;

  CurveScale scale_;
  std::map<std::string, Points> jobs_;
};

}  // namespace omen::interference
