// SPDX-License-Identifier: Apache-2.0
// Efficiencies of serving software and the power they cause, learnt from measured runs.
#pragma once

#include <cstdint>
#include <functional>
#include <omen/learn/correction.hpp>
#include <string>
#include <vector>

#include "llm/analytic.hpp"

namespace omen::power {

// A run with what was measured of it; NaN: not measured.
struct MeasuredRun {
  Serving serving;
  double seconds = 0, watts = 0;  // watts of one GPU
  double trust = 1;               // of the row, 0 to 1
  std::int32_t group = 0;
};

struct LlmFitOptions {
  int folds = 5;           // that intervals are measured on
  bool core_only = false;  // one set of constants for all software
  std::uint64_t seed = 1;
  std::function<void(double)> step = [](double) {};
};

// Ranges of what was measured; a question outside of them is extrapolated.
struct Measured {
  static constexpr std::size_t kCount = 8;
  double low[kCount], high[kCount];
  bool experts = false;

  Measured();
  void add(const Serving& serving);
  bool holds(const Serving& serving) const;
};

class LlmModel {
 public:
  void fit(const std::vector<MeasuredRun>& runs, const LlmFitOptions& options);
  // Learns how this machine differs from what was learnt before.
  void observe(const std::vector<MeasuredRun>& runs);

  Forecast ask(const Serving& serving) const;
  bool extrapolates(const Serving& serving) const;
  // Part by which answers were off on groups that a fit had not seen: half widths in logarithms.
  double time_width(double level) const;
  double power_width(double level) const;
  double energy_width(double level) const;

  std::size_t observed() const { return static_cast<std::size_t>(correction_.count()); }
  const std::vector<std::string>& frameworks() const { return frameworks_; }
  // That answers for software which was not measured: the one that wastes least.
  std::size_t best_framework() const { return best_; }
  Efficiency efficiency(const Serving& serving) const;
  PowerShape power_shape(const Serving& serving) const;

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  void fit_time(const std::vector<MeasuredRun>& runs, const LlmFitOptions& options);
  void fit_power(const std::vector<MeasuredRun>& runs, const LlmFitOptions& options);
  void choose_best();
  std::size_t framework_of(const Serving& serving, bool& known) const;
  Corrections corrections(const Serving& serving) const;

  std::vector<std::string> frameworks_;
  learn::Vector time_, power_;  // logarithms: shared parameters, then deviations of frameworks
  std::size_t best_ = 0;
  Measured measured_;
  std::vector<double> time_residuals_, power_residuals_, energy_residuals_;  // absolute, sorted
  learn::Correction correction_;
};

// As it is before anything was observed.
learn::Correction blank_correction();
// How much rows of one machine have in common, and how much near ones.
learn::CorrectionScales correction_scales();

// "vLLM 2024" and "vllm-2024" name the same software.
std::string normalised_framework(const std::string& name);

}  // namespace omen::power
