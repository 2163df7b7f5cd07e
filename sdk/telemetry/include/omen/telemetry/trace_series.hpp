// SPDX-License-Identifier: Apache-2.0
// One series of a trace in bounded memory: points with the time that each of them covers.
#ifndef OMEN_TELEMETRY_TRACE_SERIES_HPP
#define OMEN_TELEMETRY_TRACE_SERIES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omen::telemetry {

struct TracePoint {
  std::int64_t t_ns = 0;
  double value = 0;
};

// Keeps every row until `most` points are reached, then halves its resolution by taking the mean of
// neighbours, so that a run of any length fits. Rows that go back in time are left out and counted.
class TraceSeries {
 public:
  static constexpr std::size_t kMostPoints = std::size_t{1} << 16;

  explicit TraceSeries(std::size_t most = kMostPoints) : most_(most) {}
  // A trace without times, sampled every period_s.
  static TraceSeries of_values(const std::vector<double>& values, double period_s);

  void add(std::int64_t t_ns, double value);

  const std::vector<TracePoint>& points() const noexcept { return points_; }
  std::vector<double> values() const;
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t rows_per_point() const noexcept { return stride_; }
  std::int64_t dropped() const noexcept { return dropped_; }

  // The usual time between two points; 0 for fewer than two.
  double period_s() const;
  // The time that each point stands for: up to the next one, but at most five periods, because what
  // happened while a sampler stalled is not known. The last one stands for a period.
  std::vector<double> covered_s() const;
  // The time that no point stands for.
  double gap_s() const;

 private:
  void halve();

  std::size_t most_;
  std::vector<TracePoint> points_;
  std::int64_t stride_ = 1, rows_ = 0, dropped_ = 0;
  // Rows on their way into the next point.
  std::int64_t pending_ = 0, pending_t_ns_ = 0, last_t_ns_ = 0;
  double pending_sum_ = 0;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TRACE_SERIES_HPP
