// SPDX-License-Identifier: Apache-2.0
// How fast one model trains on 1, 2, 3 ... accelerators.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace omen::ensemble {

// Measured rates, and beyond them an efficiency that falls by the same factor with each further
// accelerator as it did with the last measured one (Eq. 5 of FLEET, MLSys 2020). A rate never falls
// with more accelerators: what is worse than fewer leaves some of them idle.
class RateCurve {
 public:
  // Rates on 1, 2, ... accelerators, at least one and all above 0. A single one: the model trains
  // on one accelerator only.
  explicit RateCurve(std::vector<double> measured);

  double at(std::int64_t accelerators) const;
  // The fewest accelerators with the highest rate; a further one gains nothing.
  std::int64_t useful() const { return useful_; }
  // The fewest accelerators with at least this rate; useful() + 1 where none reaches it.
  std::int64_t fewest_for(double rate) const;
  // The same where nothing is delivered faster than `most`.
  RateCurve capped(double most) const;

 private:
  std::vector<double> measured_;
  double efficiency_ = 0, decay_ = 1;  // of the last measured accelerator
  double cap_ = std::numeric_limits<double>::infinity();
  std::int64_t useful_ = 1;
};

}  // namespace omen::ensemble
