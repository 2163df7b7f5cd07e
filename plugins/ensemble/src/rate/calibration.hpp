// SPDX-License-Identifier: Apache-2.0
// Finds the constants of the closed form in measurements, and how far it is off.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "rate/closed_form.hpp"

namespace omen::ensemble {

// One measured row; NaN where a cost was not measured.
struct Measured {
  Setting setting;
  std::int32_t group = 0;
  double rate = 0, cpu = 0, power = 0;  // images/s, core seconds of an image, watts of a node
  // Parts of `cpu` by the clocks of the stages. Two totals that differ by half an image's
  // preprocessing tell little of either part; clocks tell both.
  double prepare_cpu = std::numeric_limits<double>::quiet_NaN();
  double train_cpu = std::numeric_limits<double>::quiet_NaN();
};

struct CalibrationOptions {
  std::optional<double> sigma;  // known from elsewhere: one core count cannot tell it
  double overlap = 0;
  int folds = 5;  // that the residuals are measured on
  std::uint64_t seed = 1;
  std::function<void(double)> step;  // called with the part that is done; may throw
};

// What was measured of one design; answers outside are extrapolations.
struct Known {
  bool seen = false;
  double ranks[2] = {0, 0}, preprocessors[2] = {0, 0}, cores[2] = {0, 0};
};
inline constexpr std::size_t kDesignCount = 6;

struct Calibrated {
  RateConstants rate;
  std::optional<CpuConstants> cpu;
  std::optional<PowerConstants> power;
  double overlap = 0;
  std::array<Known, kDesignCount> known;
  // Absolute logarithms of measured over predicted on rows that the fit had not seen, ascending.
  std::vector<double> rate_residuals, cpu_residuals, power_residuals;

  Forecast ask(const Setting& setting) const;
  bool extrapolates(const Setting& setting) const;
};

// Minimises the mean relative error. OMEN_INVALID_DATA without one measured rate.
Calibrated calibrate(const std::vector<Measured>& rows, const CalibrationOptions& options);

// Mean of |predicted / measured - 1| over the rows with a rate.
double mean_rate_error(const Calibrated& model, const std::vector<Measured>& rows);

}  // namespace omen::ensemble
