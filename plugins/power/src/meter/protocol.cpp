// SPDX-License-Identifier: Apache-2.0
// Looks for reasons against a run one after the other; what is left is measured.
#include "meter/protocol.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <omen/median.hpp>
#include <omen/telemetry/trace_phases.hpp>

namespace omen::power {
namespace {

using telemetry::Window;

constexpr double kBlock_s = 0.25;    // shortest piece of a window that is looked at by itself
constexpr double kBlockPeriods = 4;  // samples in a piece
constexpr std::size_t kLeastBlocks = 4;
constexpr double kMostBlocks = 400;
constexpr double kLeastRise = 0.1;  // of a job without times over idle
constexpr std::size_t kLeastMarks = 3;

// Quantiles of Student's distribution at 97.5 %, from one degree of freedom on.
constexpr std::array kStudent = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.960;

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}
double length_s(const Window& window) {
  return static_cast<double>(window.end_ns - window.begin_ns) * 1e-9;
}

template <class... Values>
std::string said(const char* format, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

const telemetry::TraceSeries& series_of(const PowerSource& source) {
  return source.watts.points().empty() ? source.joules : source.watts;
}

// Readers unwrap counters, so one that still runs backwards was reset.
bool was_reset(const PowerTrace& trace, const Window& job) {
  for (const PowerSource& source : trace.sources) {
    const std::vector<telemetry::TracePoint>& points = source.joules.points();
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i].value < points[i - 1].value && points[i].t_ns >= job.begin_ns &&
          points[i - 1].t_ns <= job.end_ns)
        return true;
  }
  return false;
}

// From the first to the last point of any source.
Window recorded(const PowerTrace& trace) {
  Window whole{INT64_MAX, INT64_MIN};
  for (const PowerSource& source : trace.sources) {
    whole.begin_ns = std::min(whole.begin_ns, series_of(source).points().front().t_ns);
    whole.end_ns = std::max(whole.end_ns, series_of(source).points().back().t_ns);
  }
  return whole;
}

double longest_period_s(const PowerTrace& trace) {
  double longest = 0;
  for (const PowerSource& source : trace.sources)
    longest = std::max(longest, series_of(source).period_s());
  return longest;
}

// Where power stands on the upper of its two levels, for traces that do not say when the job ran.
std::optional<Window> risen(const PowerTrace& trace) {
  const telemetry::TraceSeries& series = trace.sources.front().watts;
  const auto levels = telemetry::two_clusters(series.values());
  if (!levels || levels->high_mean - levels->low_mean < kLeastRise * levels->high_mean)
    return std::nullopt;
  const double between = (levels->low_mean + levels->high_mean) / 2;
  Window job{INT64_MAX, INT64_MIN};
  for (const telemetry::TracePoint& point : series.points()) {
    if (point.value < between) continue;
    job.begin_ns = std::min(job.begin_ns, point.t_ns);
    job.end_ns = std::max(job.end_ns, point.t_ns);
  }
  return job;
}

// The longest stretch whose pieces stay within the spread of their mean.
struct Steady {
  Window window;
  double lowest_w = 0, highest_w = 0;  // of all pieces
  bool found = false;
};
Steady steady_part(const PowerTrace& trace, const Window& job, const Protocol& protocol) {
  const Window inner{job.begin_ns + nanoseconds(protocol.ramp_s), job.end_ns};
  const double block_s =
      std::max({kBlock_s, kBlockPeriods * longest_period_s(trace), length_s(inner) / kMostBlocks});
  Steady steady;
  const auto count = static_cast<std::size_t>(std::max(0.0, length_s(inner) / block_s));
  if (count < kLeastBlocks) return steady;
  const auto piece = [&](std::size_t first, std::size_t last) {
    const std::int64_t each = (inner.end_ns - inner.begin_ns) / static_cast<std::int64_t>(count);
    return Window{inner.begin_ns + static_cast<std::int64_t>(first) * each,
                  inner.begin_ns + static_cast<std::int64_t>(last) * each};
  };
  std::vector<double> watts;
  for (std::size_t i = 0; i < count; ++i) watts.push_back(drawn_in(trace, piece(i, i + 1)).watts());
  steady.lowest_w = *std::min_element(watts.begin(), watts.end());
  steady.highest_w = *std::max_element(watts.begin(), watts.end());
  std::size_t best = 0;
  for (std::size_t first = 0; first + best < count; ++first) {
    double sum = 0, low = watts[first], high = watts[first];
    for (std::size_t last = first; last < count; ++last) {
      sum += watts[last];
      low = std::min(low, watts[last]);
      high = std::max(high, watts[last]);
      const double mean = sum / static_cast<double>(last - first + 1);
      const bool flat =
          high - mean <= protocol.most_spread * mean && mean - low <= protocol.most_spread * mean;
      if (!flat || last - first + 1 <= best) continue;
      best = last - first + 1;
      steady.window = piece(first, last + 1);
    }
  }
  const double enough = std::max(protocol.least_window_s, protocol.least_part * length_s(inner));
  steady.found = best >= kLeastBlocks && length_s(steady.window) >= enough - kBlock_s;
  return steady;
}

// "step-12" and "step-13" are marks of one kind.
std::string kind_of_mark(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end == std::string::npos ? std::string() : name.substr(0, end + 1);
}

// Times of the marks of the most frequent kind within a window.
std::vector<std::int64_t> steps_in(const PowerTrace& trace, const Window& window) {
  std::map<std::string, std::vector<std::int64_t>> kinds;
  for (const auto& [t_ns, name] : trace.marks)
    if (t_ns >= window.begin_ns && t_ns <= window.end_ns) kinds[kind_of_mark(name)].push_back(t_ns);
  std::vector<std::int64_t> most;
  for (auto& [kind, times] : kinds)
    if (times.size() > most.size()) most = std::move(times);
  return most;
}

// Steps between marks where there are enough, else the whole job divided by what it holds.
void measure_inferences(const PowerTrace& trace, const Window& job, const Window& steady,
                        const Protocol& protocol, MeasuredRun& run) {
  const std::vector<std::int64_t> steps = steps_in(trace, steady);
  const bool marked = steps.size() >= kLeastMarks;
  const Window part = marked ? Window{steps.front(), steps.back()} : job;
  run.inferences = marked ? static_cast<double>(steps.size() - 1) : protocol.inferences;
  const Drawn drawn = drawn_in(trace, part);
  run.latency_s = length_s(part) / run.inferences;
  // Samples may begin a period behind the job; its power is taken as that of the rest.
  run.energy_j = drawn.watts() * run.latency_s;
  run.net_j = std::max(0.0, drawn.watts() - run.idle_w()) * run.latency_s;
}

std::string idle_fault(const PowerTrace& trace, const Window& job, const Protocol& protocol,
                       MeasuredRun& run) {
  const Window whole = recorded(trace);
  // The last sample before the job and the first one of it share a piece of the trace.
  const Window before{whole.begin_ns, job.begin_ns - nanoseconds(longest_period_s(trace))};
  const Window after{job.end_ns + nanoseconds(protocol.ramp_s), whole.end_ns};
  if (length_s(before) < protocol.least_idle_s)
    return said("only %.1f s of idle before the job", std::max(0.0, length_s(before)));
  if (length_s(after) < protocol.least_idle_s)
    return said("only %.1f s of idle behind the job and its ramp", std::max(0.0, length_s(after)));
  run.idle_before_w = drawn_in(trace, before).watts();
  run.idle_after_w = drawn_in(trace, after).watts();
  const double drift = std::abs(run.idle_after_w - run.idle_before_w);
  if (drift > protocol.most_drift * std::max(run.power_w, 1e-9))
    return said("idle drifts from %.4g W to %.4g W", run.idle_before_w, run.idle_after_w);
  return {};
}

}  // namespace

MeasuredRun judge_run(const PowerTrace& trace, const Protocol& protocol) {
  MeasuredRun run;
  const auto reject = [&](std::string why) {
    run.rejected = std::move(why);
    return run;
  };
  if (trace.sources.empty()) return reject("nothing measured power");
  if (trace.exit_code.value_or(0) != 0)
    return reject(said("the command ended with %d", *trace.exit_code));
  const std::optional<Window> job = trace.job ? trace.job : risen(trace);
  if (!job) return reject("power never rises over idle, and nothing says when the job ran");
  if (length_s(*job) < protocol.ramp_s + protocol.least_window_s)
    return reject(said("the job lasts %.2f s; it takes %.2f s to measure one", length_s(*job),
                       protocol.ramp_s + protocol.least_window_s));
  const Drawn drawn = drawn_in(trace, *job);
  run.method = drawn.method;
  if (drawn.seconds <= 0) return reject("no sample falls into the job");
  if (drawn.joules <= 0) return reject("the sensor reads 0 W while the job runs");
  if (was_reset(trace, *job)) return reject("the energy counter was reset while the job ran");
  if (!drawn.remark.empty()) return reject(drawn.remark);
  for (const std::int64_t t_ns : trace.throttled_ns)
    if (t_ns >= job->begin_ns && t_ns <= job->end_ns)
      return reject(said("throttled after %.1f s", length_s({job->begin_ns, t_ns})));
  const Steady steady = steady_part(trace, *job, protocol);
  if (!steady.found)
    return reject(said("no steady window: power moves between %.4g W and %.4g W", steady.lowest_w,
                       steady.highest_w));
  run.power_w = drawn_in(trace, steady.window).watts();
  run.window_s = length_s(steady.window);
  if (std::string fault = idle_fault(trace, *job, protocol, run); !fault.empty())
    return reject(std::move(fault));
  measure_inferences(trace, *job, steady.window, protocol, run);
  return run;
}

double Interval::relative() const {
  return runs < 2 || mean <= 0 ? std::numeric_limits<double>::infinity() : half / mean;
}

Interval interval_of(const std::vector<double>& values) {
  Interval made;
  made.runs = values.size();
  if (values.empty()) return made;
  for (const double value : values) made.mean += value / static_cast<double>(values.size());
  const double middle = median(values);
  std::vector<double> distances;
  double squares = 0;
  for (const double value : values) {
    distances.push_back(std::abs(value - middle));
    squares += (value - made.mean) * (value - made.mean);
  }
  made.mad = median(distances);
  if (values.size() < 2) return made;
  const std::size_t freedom = values.size() - 1;
  const double quantile = freedom <= kStudent.size() ? kStudent[freedom - 1] : kNormal;
  made.half = quantile * std::sqrt(squares / static_cast<double>(freedom * values.size()));
  return made;
}

}  // namespace omen::power
