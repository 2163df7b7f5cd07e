// SPDX-License-Identifier: Apache-2.0
// Scorer `loadbalance.split`: which work-groups each device should compute.
#pragma once

#include "omen/plugin.hpp"
#include "opencl/launch.hpp"

namespace omen::loadbalance {

struct SplitScorerOptions {
  std::string global, local;
  double step = 5, min_gain = 0.02;

  static auto spec() {
    using O = SplitScorerOptions;
    return options(opt(&O::global, "global",
                       "work-items in each dimension, X[,Y[,Z]]; by default from input_size"),
                   opt(&O::local, "local", "work-group size in each dimension, X[,Y[,Z]]"),
                   opt(&O::step, "step", "distance of the shares that are candidates")
                       .range(0.5, 50)
                       .unit("%"),
                   opt(&O::min_gain, "min_gain",
                       "a split that gains a smaller part of the time ranks behind one device")
                       .range(0, 1));
  }
};

// Candidates are shares of the first device with the range of work-groups of each. Predicted times
// of the devices rank them, else the distance from a predicted share. A kernel whose column
// `divisible` is not "yes" runs on one device, and so does one of whose dimensions none that
// `divisible_along` allows has two groups; the reason is shown.
class SplitScorer final : public Scorer {
 public:
  explicit SplitScorer(SplitScorerOptions options) : options_(std::move(options)) {}
  TableStream enumerate(const Dataset& in, const Run& run) override;
  TableStream score(const Dataset& in, const Run& run) override;

 private:
  SplitScorerOptions options_;
};

}  // namespace omen::loadbalance
