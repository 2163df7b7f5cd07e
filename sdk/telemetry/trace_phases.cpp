// SPDX-License-Identifier: Apache-2.0
// Ordered two-level segmentation with a separation test.
#include "omen/telemetry/trace_phases.hpp"

#include <algorithm>

namespace omen::telemetry {
namespace {

// Below this share of the scale a device does nothing, whatever its clusters say.
constexpr double kNothing = 0.02;

double quantile_of(std::vector<double> values, double q) {
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

struct Thresholds {
  double idle_below = 0, burst_above = 0;
};

bool well_apart(const TwoClusters& clusters, const PhaseOptions& options) {
  const double scale = options.top - options.floor;
  return clusters.high_mean - clusters.low_mean >= options.least_gap * scale &&
         clusters.low_mean - options.floor <= options.most_idle * scale;
}

Thresholds thresholds_of(const std::vector<double>& values, const PhaseOptions& options) {
  const std::optional<TwoClusters> clusters = two_clusters(values);
  if (clusters && well_apart(*clusters, options)) {
    const double gap = clusters->high_mean - clusters->low_mean;
    return {clusters->low_mean + gap / 3, clusters->low_mean + gap * 2 / 3};
  }
  // Clusters would cut the plateau: what counts is how far a level lies below it.
  const double scale = options.top - options.floor;
  const double plateau = quantile_of(values, 0.5) - options.floor;
  double limit = options.most_idle * scale;
  // Unless most of the time nothing happens: then a few small values make no plateau.
  if (plateau > kNothing * scale) limit = std::min(limit, plateau / 2);
  return {options.floor + limit * 2 / 3, options.floor + limit};
}

struct Run {
  bool burst = false;
  std::size_t begin = 0, end = 0;  // points
  std::size_t size() const { return end - begin; }
};

std::vector<Run> label(const std::vector<double>& values, const Thresholds& limits) {
  std::vector<Run> runs;
  bool burst = values[0] > (limits.idle_below + limits.burst_above) / 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > limits.burst_above) burst = true;
    if (values[i] < limits.idle_below) burst = false;
    if (runs.empty() || runs.back().burst != burst) runs.push_back({burst, i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

// Joins stays that are too short to their neighbours; at the ends a short burst belongs to the idle
// stay beside it, because a tool that looks at the device wakes it.
std::vector<Run> without_noise(const std::vector<Run>& runs, std::size_t least) {
  std::vector<Run> kept;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Run run = runs[i];
    const bool at_end = i == 0 || i + 1 == runs.size();
    if (run.size() < least && runs.size() > 1 && (run.burst || !at_end)) run.burst = !run.burst;
    if (!kept.empty() && kept.back().burst == run.burst)
      kept.back().end = run.end;
    else
      kept.push_back(run);
  }
  return kept;
}

void close(PhaseFigures& figures, double covered_s) {
  if (figures.seconds > 0) figures.level /= figures.seconds;
  figures.share = covered_s > 0 ? figures.seconds / covered_s : 0;
  figures.mean_s = figures.count > 0 ? figures.seconds / static_cast<double>(figures.count) : 0;
}

void count(PhaseFigures& figures, const Phase& phase) {
  ++figures.count;
  figures.seconds += phase.seconds;
  figures.longest_s = std::max(figures.longest_s, phase.seconds);
  figures.level += phase.level * phase.seconds;
}

Phase phase_of(const TraceSeries& series, const std::vector<double>& covered, std::size_t begin,
               std::size_t end) {
  const std::vector<TracePoint>& points = series.points();
  Phase phase;
  phase.points = end - begin;
  phase.begin_ns = points[begin].t_ns;
  phase.end_ns = end < points.size()
                     ? points[end].t_ns
                     : points[end - 1].t_ns + static_cast<std::int64_t>(covered.back() * 1e9);
  double weighted = 0;
  for (std::size_t i = begin; i < end; ++i) {
    phase.seconds += covered[i];
    weighted += points[i].value * covered[i];
  }
  phase.level = phase.seconds > 0 ? weighted / phase.seconds : points[begin].value;
  return phase;
}

void find_peaks(const TraceSeries& series, const std::vector<double>& covered, double threshold,
                PhaseFigures& peak) {
  const std::vector<TracePoint>& points = series.points();
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    while (end < points.size() && points[end].value > threshold) ++end;
    if (end > i) count(peak, phase_of(series, covered, i, end));
    i = std::max(end, i + 1);
  }
}

PhaseKind kind_of(const std::vector<Run>& runs, std::size_t i) {
  if (runs[i].burst) return PhaseKind::kBurst;
  if (i == 0) return PhaseKind::kStartUp;
  return i + 1 == runs.size() ? PhaseKind::kTearDown : PhaseKind::kIdle;
}

}  // namespace

const char* verdict_text(IdleVerdict verdict) {
  switch (verdict) {
    case IdleVerdict::kNoIdlePhase:
      return "no idle phase";
    case IdleVerdict::kIdlePhases:
      return "idle phases";
    case IdleVerdict::kIdleThroughout:
      return "idle throughout";
    case IdleVerdict::kNoData:
      break;
  }
  return "no data";
}

const char* phase_text(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kStartUp:
      return "start-up";
    case PhaseKind::kIdle:
      return "idle";
    case PhaseKind::kTearDown:
      return "tear-down";
    case PhaseKind::kBurst:
      break;
  }
  return "burst";
}

PhaseOptions phase_options_of(std::string_view metric, const TraceSeries& series) {
  PhaseOptions options;
  if (series.points().empty()) return options;
  const std::vector<double> values = series.values();
  // Of several cores a job may use more than 100 %.
  if (metric.ends_with("_percent") && metric != "proc.cpu_percent") return options;
  options.top = quantile_of(values, 0.99);
  if (metric.ends_with("_w") || metric.ends_with("_mhz"))
    options.floor = *std::min_element(values.begin(), values.end());
  // A level that hardly moves must not be stretched to a full scale.
  if (options.top - options.floor < options.least_gap * options.top) options.floor = 0;
  return options;
}

Phases find_phases(const TraceSeries& series, const PhaseOptions& options) {
  Phases out;
  if (series.points().size() < 2) return out;
  const std::vector<double> values = series.values();
  const std::vector<double> covered = series.covered_s();
  for (const double seconds : covered) out.covered_s += seconds;
  out.gap_s = series.gap_s();
  find_peaks(series, covered, options.floor + options.peak * (options.top - options.floor),
             out.peak);
  close(out.peak, out.covered_s);
  const Thresholds limits = thresholds_of(values, options);
  out.idle_below = limits.idle_below;
  out.burst_above = limits.burst_above;
  std::vector<Run> runs = without_noise(label(values, limits), options.least_points);
  const double nothing = options.floor + kNothing * (options.top - options.floor);
  const bool resting = *std::max_element(values.begin(), values.end()) <= nothing;
  if (resting) runs = {{false, 0, values.size()}};
  out.verdict = IdleVerdict::kNoIdlePhase;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Phase phase = phase_of(series, covered, runs[i].begin, runs[i].end);
    phase.kind = kind_of(runs, i);
    count(runs[i].burst ? out.burst : out.idle, phase);
    if (phase.kind == PhaseKind::kIdle) out.verdict = IdleVerdict::kIdlePhases;
    if (phase.kind == PhaseKind::kStartUp) out.start_up_s = phase.seconds;
    if (phase.kind == PhaseKind::kTearDown) out.tear_down_s = phase.seconds;
    out.phases.push_back(phase);
  }
  if (out.burst.count == 0) {
    out.verdict = IdleVerdict::kIdleThroughout;
    out.phases[0].kind = PhaseKind::kIdle;
    out.start_up_s = 0;
  }
  if (out.covered_s > 0) out.edge_share = (out.start_up_s + out.tear_down_s) / out.covered_s;
  close(out.idle, out.covered_s);
  close(out.burst, out.covered_s);
  return out;
}

}  // namespace omen::telemetry
