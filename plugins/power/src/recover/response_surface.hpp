// SPDX-License-Identifier: Apache-2.0
// Quadratic surfaces of power and latency over the designs that were simulated so far.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "recover/objective.hpp"

namespace omen::power {

class ResponseSurface {
 public:
  // Needs some designs; more make it better. Illegal ones stay out.
  void fit(const std::vector<Judged>& designs);
  // What the surface expects of a design. Areas are closed forms and belong to the caller.
  struct Expected {
    double power_w = 0, latency_s = 0;
  };
  Expected at(const Design& design) const;
  bool fitted() const { return power_.size() > 0; }

 private:
  Eigen::VectorXd power_, latency_;
};

}  // namespace omen::power
