// SPDX-License-Identifier: Apache-2.0
// The time of one training step: from marks, from the period of a trace, or from whole runs.
#ifndef OMEN_TELEMETRY_TRACE_STEPS_HPP
#define OMEN_TELEMETRY_TRACE_STEPS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "omen/telemetry/trace_energy.hpp"
#include "omen/telemetry/trace_series.hpp"

namespace omen::telemetry {

struct StepTime {
  std::string method;      // "marks" or "period"
  std::string signal;      // the mark or the metric it was read from
  std::int64_t steps = 0;  // that were timed, or that fit into the stretch that was searched
  std::int64_t warm_up_dropped = 0;
  double p10_s = 0, p50_s = 0, p90_s = 0;  // of a period all three are the same
  double mad_s = 0;                        // median distance from the median
  double confidence = 1;                   // of a period: its autocorrelation, 0 to 1
};

// Intervals between marks of one kind. Leading ones that stand out (compilation, autotuning,
// caches) are dropped, at most half of them. Nothing for fewer than four marks.
std::optional<StepTime> steps_from_marks(std::vector<std::int64_t> t_ns);

// The shortest period that repeats in a trace, by autocorrelation on an even grid. Nothing where
// none stands out of the noise, where it has fewer than three points, or where the stretch holds
// fewer than four of them.
std::optional<StepTime> steps_from_period(const TraceSeries& series, const Window& window = {});

struct TimedRun {
  double steps = 0, seconds = 0;
};
struct StepLine {
  double pooled_s = 0;  // all seconds over all steps
  // Median of the slopes between runs of different length, and the start-up time that it leaves;
  // nothing where all runs are equally long.
  std::optional<double> slope_s, start_up_s;
  double spread = 0;  // largest less smallest seconds per step, as a share of pooled_s
};
// Several runs of one job with different numbers of steps. Nothing without a run of at least one
// step.
std::optional<StepLine> steps_from_runs(const std::vector<TimedRun>& runs);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_STEPS_HPP
