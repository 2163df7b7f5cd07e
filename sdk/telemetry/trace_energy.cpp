// SPDX-License-Identifier: Apache-2.0
// Integrals over windows, counters, and how far they agree.
#include "omen/telemetry/trace_energy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace omen::telemetry {
namespace {

constexpr double kShortWindow_s = 1;
constexpr double kMostDisagreement = 0.10;
constexpr double kMostEnergyPeriods = 5;

double value_at(const TracePoint& a, const TracePoint& b, std::int64_t t_ns) {
  if (b.t_ns == a.t_ns) return b.value;
  const double share = static_cast<double>(t_ns - a.t_ns) / static_cast<double>(b.t_ns - a.t_ns);
  return a.value + share * (b.value - a.value);
}

// Calls back for every piece between neighbouring points that lies in the window, with its values
// at both ends.
template <class Visit>
void for_pieces(const TraceSeries& series, const Window& window, Visit&& visit) {
  const std::vector<TracePoint>& points = series.points();
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::int64_t begin = std::max(points[i - 1].t_ns, window.begin_ns);
    const std::int64_t end = std::min(points[i].t_ns, window.end_ns);
    if (end <= begin) continue;
    visit(value_at(points[i - 1], points[i], begin), value_at(points[i - 1], points[i], end),
          static_cast<double>(end - begin) * 1e-9);
  }
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

}  // namespace

std::optional<Integral> integrate(const TraceSeries& series, const Window& window) {
  Integral out;
  const double longest = kMostEnergyPeriods * series.period_s();
  for_pieces(series, window, [&](double first, double last, double seconds) {
    out.value += (first + last) / 2 * seconds;
    out.seconds += seconds;
    if (seconds > longest) out.gap_s += seconds;
  });
  if (out.seconds <= 0) return std::nullopt;
  return out;
}

std::optional<double> counted(const TraceSeries& counter, const Window& window) {
  double sum = 0, seconds = 0;
  for_pieces(counter, window, [&](double first, double last, double piece_s) {
    sum += std::max(0.0, last - first);
    seconds += piece_s;
  });
  if (seconds <= 0) return std::nullopt;
  return sum;
}

Energy energy_of(const std::string& source, std::int32_t device, const TraceSeries* power,
                 const TraceSeries* counter, const Window& window) {
  Energy out;
  out.source = source;
  out.device = device;
  if (power) {
    if (const auto integral = integrate(*power, window)) {
      out.trapezoid_j = integral->value;
      out.seconds = integral->seconds;
      out.gap_s = integral->gap_s;
    }
  }
  if (counter) {
    out.counter_j = counted(*counter, window);
    if (out.counter_j) out.seconds = integrate(*counter, window)->seconds;
  }
  out.method = out.counter_j ? "counter" : "trapezoid";
  out.joules = out.counter_j ? *out.counter_j : out.trapezoid_j.value_or(0);
  out.mean_w = out.seconds > 0 ? out.joules / out.seconds : 0;
  if (out.counter_j && out.trapezoid_j && *out.counter_j > 0)
    out.disagreement = (*out.trapezoid_j - *out.counter_j) / *out.counter_j;
  if (out.seconds < kShortWindow_s)
    out.remark = "shorter than a second: a sensor's value is older than the run";
  else if (out.disagreement && std::abs(*out.disagreement) > kMostDisagreement)
    out.remark = "samples and counter differ by " + percent(std::abs(*out.disagreement));
  else if (!out.counter_j && out.gap_s > 0.05 * out.seconds)
    out.remark = "samples are missing for " + percent(out.gap_s / out.seconds) + " of the time";
  return out;
}

std::optional<Energy> estimated_energy(const TraceSeries& busy_percent, double tdp_w,
                                       const Window& window) {
  const auto load = integrate(busy_percent, window);
  if (!load || tdp_w <= 0) return std::nullopt;
  Energy out;
  out.source = "estimate";
  out.method = "estimated";
  out.joules = load->value / 100 * tdp_w;
  out.seconds = load->seconds;
  out.gap_s = load->gap_s;
  out.mean_w = out.joules / out.seconds;
  out.remark = "rated power of the processor times its load, nothing was measured";
  return out;
}

}  // namespace omen::telemetry
