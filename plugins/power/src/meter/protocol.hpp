// SPDX-License-Identifier: Apache-2.0
// The protocol of one measured run: idle on both sides, a steady window between, and reasons to
// reject it; and the interval over several runs.
#pragma once

#include <string>
#include <vector>

#include "meter/power_trace.hpp"

namespace omen::power {

struct Protocol {
  double ramp_s = 1;          // after each start and end; sensors average over the last second
  double least_window_s = 2;  // of the steady window
  double least_idle_s = 0.5;  // on each side
  double most_drift = 0.05;   // of idle between both sides, as a part of the job's power
  double most_spread = 0.05;  // of power within the window
  double least_part = 0.5;    // of the job that must be steady
  double inferences = 1;      // in one run of the job, where no marks tell them apart
};

struct MeasuredRun {
  std::string rejected;  // why the run does not count; empty: it does
  double idle_before_w = 0, idle_after_w = 0;
  double power_w = 0, window_s = 0;  // of the steady window
  double energy_j = 0, net_j = 0;    // of one inference; net: above idle
  double latency_s = 0, inferences = 0;
  std::string method;
  double idle_w() const { return (idle_before_w + idle_after_w) / 2; }
};

MeasuredRun judge_run(const PowerTrace& trace, const Protocol& protocol);

// Mean with the half width of its 95 % interval, and the median distance from the median.
struct Interval {
  double mean = 0, half = 0, mad = 0;
  std::size_t runs = 0;
  // Half width as a part of the mean; infinite below two runs.
  double relative() const;
};
Interval interval_of(const std::vector<double>& values);

}  // namespace omen::power
