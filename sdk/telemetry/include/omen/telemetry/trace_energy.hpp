// SPDX-License-Identifier: Apache-2.0
// Energy of a run: the integral of power samples beside the difference of a counter.
#ifndef OMEN_TELEMETRY_TRACE_ENERGY_HPP
#define OMEN_TELEMETRY_TRACE_ENERGY_HPP

#include <cstdint>
#include <optional>
#include <string>

#include "omen/telemetry/trace_series.hpp"

namespace omen::telemetry {

// A stretch of a trace; the default is all of it.
struct Window {
  std::int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
};

struct Integral {
  double value = 0;    // unit of the series times seconds
  double seconds = 0;  // what the series covers of the window
  double gap_s = 0;    // of that, bridged by a straight line because the sampler stalled
};
// Trapezoids between neighbouring points, cut at the edges of the window. Nothing where fewer than
// two points or no time of the window are covered.
std::optional<Integral> integrate(const TraceSeries& series, const Window& window = {});

// What a counter that only grows counts within the window, read off by linear interpolation; a step
// back is a counter that was reset and adds nothing.
std::optional<double> counted(const TraceSeries& counter, const Window& window = {});

struct Energy {
  std::string source;  // "gpu", "rapl", "meter", "hwmon", or "estimate"
  std::int32_t device = -1;
  std::string
      method;  // "counter" where there is one, else "trapezoid"; "estimated" from TDP x load
  double joules = 0;
  double mean_w = 0, seconds = 0, gap_s = 0;
  std::optional<double> trapezoid_j, counter_j;
  // How far the trapezoid lies from the counter, as a share of it.
  std::optional<double> disagreement;
  std::string remark;  // why the figure is doubtful; empty where it is not
};

// Sensors renew their value every 20 to 100 ms, so less than a second says little, and two figures
// that differ by more than a tenth mean that samples were missed or averaged away.
Energy energy_of(const std::string& source, std::int32_t device, const TraceSeries* power,
                 const TraceSeries* counter, const Window& window = {});

// For machines without a counter: what the processor would draw at its rated power in proportion
// to its load. `busy_percent` is of all cores.
std::optional<Energy> estimated_energy(const TraceSeries& busy_percent, double tdp_w,
                                       const Window& window = {});

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_ENERGY_HPP
