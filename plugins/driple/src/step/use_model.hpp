// SPDX-License-Identifier: Apache-2.0
// For which share of a training job its GPU idles, works, and works without a pause.
#pragma once

#include <omen/learn/matrix.hpp>
#include <omen/learn/state.hpp>
#include <set>
#include <string>
#include <vector>

#include "step/device.hpp"

namespace omen::driple {

struct UseRow {
  double step = 0;     // seconds
  double steps = 0;    // of the job
  double kernels = 0;  // of a step
  Device device;
  std::string framework;      // empty: not told
  double idle = 0, peak = 0;  // measured shares of the job
};

struct UseShares {
  double idle = 0, burst = 0, peak = 0;  // peak is part of burst
  bool extrapolates = false;
};

// A job idles while its graph is built and its kernels are chosen, which takes a time of its own
// and one for each kernel. Afterwards the GPU has no pause where kernels are long beside their
// launches.
class UseModel {
 public:
  void fit(const std::vector<UseRow>& rows);
  bool fitted() const { return start_.size() > 0; }
  UseShares ask(const UseRow& row) const;

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  learn::Vector start_;  // seconds of a job, and for each kernel
  learn::Vector busy_;   // weights of the logit of a steady GPU
  learn::Matrix devices_;
  std::set<std::string> frameworks_;
};

}  // namespace omen::driple
