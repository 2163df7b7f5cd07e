// SPDX-License-Identifier: Apache-2.0
// Points of one series, their spacing, and what they cover.
#include "omen/telemetry/trace_series.hpp"

#include <algorithm>
#include <cmath>

namespace omen::telemetry {
namespace {
constexpr double kMostSeriesPeriods = 5;
}  // namespace

TraceSeries TraceSeries::of_values(const std::vector<double>& values, double period_s) {
  TraceSeries series;
  for (std::size_t i = 0; i < values.size(); ++i)
    series.add(std::llround(static_cast<double>(i) * period_s * 1e9), values[i]);
  return series;
}

void TraceSeries::add(std::int64_t t_ns, double value) {
  if (!std::isfinite(value) || (rows_ > 0 && t_ns < last_t_ns_)) {
    ++dropped_;
    return;
  }
  last_t_ns_ = t_ns;
  ++rows_;
  if (pending_ == 0) pending_t_ns_ = t_ns;
  pending_sum_ += value;
  if (++pending_ < stride_) return;
  points_.push_back({pending_t_ns_, pending_sum_ / static_cast<double>(pending_)});
  pending_ = 0;
  pending_sum_ = 0;
  if (points_.size() >= most_) halve();
}

void TraceSeries::halve() {
  const std::size_t half = points_.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    points_[i] = {points_[2 * i].t_ns, (points_[2 * i].value + points_[2 * i + 1].value) / 2};
  points_.resize(half);
  stride_ *= 2;
}

std::vector<double> TraceSeries::values() const {
  std::vector<double> all;
  all.reserve(points_.size());
  for (const TracePoint& point : points_) all.push_back(point.value);
  return all;
}

double TraceSeries::period_s() const {
  if (points_.size() < 2) return 0;
  std::vector<std::int64_t> steps;
  steps.reserve(points_.size() - 1);
  for (std::size_t i = 1; i < points_.size(); ++i)
    steps.push_back(points_[i].t_ns - points_[i - 1].t_ns);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return static_cast<double>(*middle) * 1e-9;
}

std::vector<double> TraceSeries::covered_s() const {
  const double period = period_s();
  std::vector<double> covered(points_.size(), period);
  for (std::size_t i = 0; i + 1 < points_.size(); ++i)
    covered[i] = std::min(static_cast<double>(points_[i + 1].t_ns - points_[i].t_ns) * 1e-9,
                          kMostSeriesPeriods * period);
  return covered;
}

double TraceSeries::gap_s() const {
  const double longest = kMostSeriesPeriods * period_s();
  double gap = 0;
  for (std::size_t i = 0; i + 1 < points_.size(); ++i)
    gap +=
        std::max(0.0, static_cast<double>(points_[i + 1].t_ns - points_[i].t_ns) * 1e-9 - longest);
  return gap;
}

}  // namespace omen::telemetry
