// SPDX-License-Identifier: Apache-2.0
// Robust estimates of the time of one step.
#include "omen/telemetry/trace_steps.hpp"

#include <algorithm>
#include <cmath>

#include "omen/median.hpp"

namespace omen::telemetry {
namespace {

constexpr std::size_t kLeastMarks = 4;
constexpr std::size_t kLeastPoints = 24;
constexpr std::size_t kMostPoints = 4096;  // the autocorrelation is quadratic
constexpr std::size_t kLeastLag = 3;       // below that the grid hides the period
constexpr double kLeastCorrelation = 0.4;
// An earlier peak nearly as high as the highest is the period, the others its multiples; between
// two points of the grid a sharp peak loses up to a third.
constexpr double kNearlyHighest = 0.7;

double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

double spread_around(const std::vector<double>& values, double centre) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return median(distances);
}

// Values at even distances by linear interpolation, at most kMostPoints of them from the start.
std::vector<double> even_grid(const TraceSeries& series, const Window& window, double period_s) {
  std::vector<TracePoint> points;
  for (const TracePoint& point : series.points())
    if (point.t_ns >= window.begin_ns && point.t_ns < window.end_ns) points.push_back(point);
  std::vector<double> grid;
  if (points.size() < 2 || period_s <= 0) return grid;
  std::size_t at = 0;
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    const double t_ns =
        static_cast<double>(points[0].t_ns) + static_cast<double>(i) * period_s * 1e9;
    if (t_ns > static_cast<double>(points.back().t_ns)) break;
    while (at + 2 < points.size() && static_cast<double>(points[at + 1].t_ns) <= t_ns) ++at;
    const TracePoint &a = points[at], &b = points[at + 1];
    const double width = static_cast<double>(b.t_ns - a.t_ns);
    const double share =
        width > 0 ? std::clamp((t_ns - static_cast<double>(a.t_ns)) / width, 0.0, 1.0) : 1;
    grid.push_back(a.value + share * (b.value - a.value));
  }
  return grid;
}

// Normalised so that lag 0 is 1 and a perfect repetition stays 1 at any lag. Empty for a constant.
std::vector<double> autocorrelation(std::vector<double> values, std::size_t lags) {
  double mean = 0, power = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (double& value : values) {
    value -= mean;
    power += value * value;
  }
  if (power <= 1e-12 * mean * mean || power == 0) return {};
  std::vector<double> out;
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < values.size(); ++i) sum += values[i] * values[i - lag];
    const double terms = static_cast<double>(values.size() - lag);
    out.push_back(sum / terms / (power / static_cast<double>(values.size())));
  }
  return out;
}

// The first lag whose peak is nearly the highest one behind the first fall below zero.
std::optional<std::size_t> period_lag(const std::vector<double>& correlation) {
  std::size_t from = 1;
  while (from < correlation.size() && correlation[from] > 0) ++from;
  double highest = 0;
  for (std::size_t i = from; i + 1 < correlation.size(); ++i)
    highest = std::max(highest, correlation[i]);
  if (highest < kLeastCorrelation) return std::nullopt;
  for (std::size_t i = std::max(from, kLeastLag); i + 1 < correlation.size(); ++i)
    if (correlation[i] >= kNearlyHighest * highest && correlation[i] >= correlation[i - 1] &&
        correlation[i] >= correlation[i + 1])
      return i;
  return std::nullopt;
}

// The place of a peak between grid points, from the parabola through three of them.
double refined(const std::vector<double>& correlation, std::size_t lag) {
  const double before = correlation[lag - 1], here = correlation[lag], after = correlation[lag + 1];
  const double bend = before - 2 * here + after;
  const double shift = bend < 0 ? 0.5 * (before - after) / bend : 0;
  return static_cast<double>(lag) + std::clamp(shift, -0.5, 0.5);
}

}  // namespace

std::optional<StepTime> steps_from_marks(std::vector<std::int64_t> t_ns) {
  if (t_ns.size() < kLeastMarks) return std::nullopt;
  std::sort(t_ns.begin(), t_ns.end());
  std::vector<double> steps;
  for (std::size_t i = 1; i < t_ns.size(); ++i)
    steps.push_back(static_cast<double>(t_ns[i] - t_ns[i - 1]) * 1e-9);
  const double centre = median(steps);
  const double limit = std::max(1.2 * centre, centre + 5 * 1.4826 * spread_around(steps, centre));
  StepTime out;
  out.method = "marks";
  std::size_t first = 0;
  while (first < steps.size() / 2 && steps[first] > limit) ++first;
  out.warm_up_dropped = static_cast<std::int64_t>(first);
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(first));
  std::sort(steps.begin(), steps.end());
  out.steps = static_cast<std::int64_t>(steps.size());
  out.p10_s = quantile(steps, 0.1);
  out.p50_s = quantile(steps, 0.5);
  out.p90_s = quantile(steps, 0.9);
  out.mad_s = spread_around(steps, out.p50_s);
  return out;
}

std::optional<StepTime> steps_from_period(const TraceSeries& series, const Window& window) {
  const double grid_s = series.period_s();
  const std::vector<double> grid = even_grid(series, window, grid_s);
  if (grid.size() < kLeastPoints) return std::nullopt;
  const std::vector<double> correlation = autocorrelation(grid, grid.size() / 4 + 1);
  if (correlation.empty()) return std::nullopt;
  const auto lag = period_lag(correlation);
  if (!lag) return std::nullopt;
  StepTime out;
  out.method = "period";
  out.p50_s = refined(correlation, *lag) * grid_s;
  out.p10_s = out.p90_s = out.p50_s;
  out.confidence = std::min(1.0, correlation[*lag]);
  out.steps = std::llround(static_cast<double>(grid.size()) * grid_s / out.p50_s);
  return out;
}

std::optional<StepLine> steps_from_runs(const std::vector<TimedRun>& runs) {
  double steps = 0, seconds = 0, least = 0, most = 0;
  bool first = true;
  for (const TimedRun& run : runs) {
    if (run.steps < 1) continue;
    steps += run.steps;
    seconds += run.seconds;
    const double one = run.seconds / run.steps;
    least = first ? one : std::min(least, one);
    most = first ? one : std::max(most, one);
    first = false;
  }
  if (first) return std::nullopt;
  StepLine out;
  out.pooled_s = seconds / steps;
  out.spread = out.pooled_s > 0 ? (most - least) / out.pooled_s : 0;
  std::vector<double> slopes, offsets;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t k = i + 1; k < runs.size(); ++k)
      if (runs[i].steps >= 1 && runs[k].steps >= 1 && runs[i].steps != runs[k].steps)
        slopes.push_back((runs[k].seconds - runs[i].seconds) / (runs[k].steps - runs[i].steps));
  if (slopes.empty()) return out;
  out.slope_s = median(slopes);
  for (const TimedRun& run : runs)
    if (run.steps >= 1) offsets.push_back(run.seconds - *out.slope_s * run.steps);
  out.start_up_s = median(offsets);
  return out;
}

}  // namespace omen::telemetry
