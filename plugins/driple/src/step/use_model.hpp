// SPDX-License-Identifier: Apache-2.0
// For which share of a training job its GPU idles, works, and works without a pause.
#pragma once

#include <cstdint>
#include <omen/learn/intervals.hpp>
#include <omen/learn/matrix.hpp>
#include <omen/learn/state.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace omen::driple {

struct UseRow {
  double step = 0;            // seconds
  double steps = 0;           // of the job
  double kernels = 0;         // of a step
  std::string framework;      // empty: not told
  double idle = 0, peak = 0;  // measured shares of the job
  std::int32_t group = 0;
};

struct UseShares {
  double idle = 0, burst = 0, peak = 0;  // peak is part of burst
  double idle_off = 0, peak_off = 0;     // half of each interval, before 0 and 1 cut it
};

// A job idles while its graph is built and its kernels are chosen, which takes a time of its own
// and one for each kernel. Afterwards the GPU has no pause where kernels are long beside their
// launches.
class UseModel {
 public:
  // In a model file: metadata where there is such a model, and how its tensors' names begin.
  static constexpr const char* kThere = "driple.use";
  static constexpr const char* kTensors = "use.";

  // Rows of one group are held out together where intervals are measured.
  void fit(const std::vector<UseRow>& rows);
  bool fitted() const { return start_.size() > 0; }
  // Nothing under a framework that was not measured: each has a start of its own.
  std::optional<UseShares> ask(const UseRow& row, double level) const;

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  UseShares shares_of(const UseRow& row) const;
  void fit_weights(const std::vector<UseRow>& rows);
  void measure_intervals(const std::vector<UseRow>& rows);

  learn::Vector start_;  // seconds of a job, and for each kernel
  learn::Vector busy_;   // weights of the logit of a steady GPU
  learn::ResidualQuantiles idle_off_, peak_off_;
  std::set<std::string> frameworks_;  // in lower case, without versions; none: never told
};

}  // namespace omen::driple
