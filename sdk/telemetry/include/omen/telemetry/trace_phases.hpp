// SPDX-License-Identifier: Apache-2.0
// Idle, burst and peak phases of a utilisation trace: ordered two-level segmentation, and the
// two-cluster labels of earlier work.
#ifndef OMEN_TELEMETRY_TRACE_PHASES_HPP
#define OMEN_TELEMETRY_TRACE_PHASES_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "omen/telemetry/trace_series.hpp"

namespace omen::telemetry {

// The split of a sample into two groups with the least sum of squared distances to their means:
// the global optimum, found on the sorted values.
struct TwoClusters {
  double low_mean = 0, high_mean = 0;
  double low_max = 0, high_min = 0;
  double high_share = 0;  // of the values
};
// Nothing for fewer than two different values.
std::optional<TwoClusters> two_clusters(std::vector<double> values);

// Labels as k-means with k = 2 gives them, ordered so that burst is the higher cluster; shares and
// run lengths count samples. A plateau that never rests is cut in two: see find_phases.
struct LegacyPhases {
  std::optional<TwoClusters> clusters;
  double burst_share = 0, idle_share = 0;
  double mean_burst_run = 0, mean_idle_run = 0;  // samples; 0 where there is no such run
  double peak_share = 0;                         // of samples above peak_threshold
};
LegacyPhases legacy_phases(const std::vector<double>& values, double peak_threshold);

struct PhaseOptions {
  double floor = 0;              // the level of a device that does nothing
  double top = 100;              // full scale; peaks and separation are measured against it
  double least_gap = 0.15;       // of the scale, between the two levels
  double most_idle = 0.15;       // of the scale, of the lower level above the floor
  double peak = 0.90;            // of the scale
  std::size_t least_points = 2;  // a shorter stay is noise
};
// Full scale by the unit of the metric: 100 for percentages, 0 to the 99th percentile for rates and
// bytes, the least value to that percentile for power and clocks, which never fall to nothing.
PhaseOptions phase_options_of(std::string_view metric, const TraceSeries& series);

enum class IdleVerdict : std::uint8_t {
  kNoData,
  kNoIdlePhase,    // between start-up and tear-down the level never falls apart in two
  kIdlePhases,     // two levels, well apart
  kIdleThroughout  // never more than a fiftieth of the scale
};
const char* verdict_text(IdleVerdict verdict);

enum class PhaseKind : std::uint8_t { kStartUp, kIdle, kBurst, kTearDown };
const char* phase_text(PhaseKind kind);

struct Phase {
  PhaseKind kind = PhaseKind::kBurst;
  std::int64_t begin_ns = 0, end_ns = 0;
  double seconds = 0;  // covered by samples
  double level = 0;    // mean over time
  std::size_t points = 0;
};

struct PhaseFigures {
  std::int64_t count = 0;
  double seconds = 0, share = 0;  // of the covered time
  double mean_s = 0, longest_s = 0;
  double level = 0;  // mean over time
};

struct Phases {
  IdleVerdict verdict = IdleVerdict::kNoData;
  std::vector<Phase> phases;  // in order of time, without holes
  PhaseFigures idle, burst;   // idle holds start-up and tear-down as well
  PhaseFigures peak;          // stays above peak * scale, within any phase
  double start_up_s = 0, tear_down_s = 0;
  double edge_share = 0;  // start-up and tear-down, of the covered time
  double covered_s = 0, gap_s = 0;
  double idle_below = 0, burst_above = 0;  // thresholds with hysteresis
};

// Two levels with hysteresis. The levels are the exact two clusters where those lie well apart;
// where they do not, clusters would cut a plateau in two, and a level below 15 % of the scale and
// below half of the median counts as idle. The idle stays at both ends are start-up and tear-down;
// what is left decides the verdict.
Phases find_phases(const TraceSeries& series, const PhaseOptions& options);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_PHASES_HPP
