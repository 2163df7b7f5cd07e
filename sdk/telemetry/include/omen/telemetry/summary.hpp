// SPDX-License-Identifier: Apache-2.0
// A trace in figures and in a chart: per series in constant memory, whatever its length.
#ifndef OMEN_TELEMETRY_SUMMARY_HPP
#define OMEN_TELEMETRY_SUMMARY_HPP

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "omen/telemetry/log_histogram.hpp"
#include "omen/telemetry/rows.hpp"

namespace omen::telemetry {

// One metric of one device (and process) in one workload.
struct SeriesKey {
  std::int64_t workload_id = 0;
  std::string metric;
  std::int32_t device = Sample::kWholeMachine;
  std::int32_t pid = 0;
  auto operator<=>(const SeriesKey&) const = default;
};

class SeriesSummary {
 public:
  void add(std::int64_t t_ns, double value);

  std::int64_t rows() const noexcept { return rows_; }
  // Weighted by the time since the row before, because ticks may be missed and the last one is
  // short.
  double mean() const noexcept;
  double min() const noexcept { return min_; }
  double max() const noexcept { return max_; }
  double last() const noexcept { return last_; }
  // Within 2.2 % for positive values; 0 where most are zero or less.
  double quantile(double q) const { return histogram_.quantile(q); }
  std::int64_t first_t_ns() const noexcept { return first_t_ns_; }
  std::int64_t last_t_ns() const noexcept { return last_t_ns_; }

 private:
  std::int64_t rows_ = 0, first_t_ns_ = 0, last_t_ns_ = 0;
  double min_ = 0, max_ = 0, last_ = 0, plain_sum_ = 0, weighted_sum_ = 0, weight_sum_ = 0;
  LogHistogram histogram_;
};

struct Summary {
  std::map<SeriesKey, SeriesSummary> series;
  std::map<std::string, std::string> metadata;
  std::int64_t rows = 0;
  std::int64_t left_out = 0;  // rows of series beyond the first 5000

  const SeriesSummary* find(const std::string& metric, std::int32_t device = Sample::kWholeMachine,
                            std::int64_t workload_id = 0) const;  // any pid
  std::vector<std::int64_t> workloads() const;
};
Summary summarise(RowReader& reader);

struct PlotOptions {
  std::string title;
  int buckets = 800;             // along the time axis; each keeps its least and greatest value
  bool all_metrics = false;      // otherwise those that people look at first
  std::size_t most_series = 64;  // of one panel
};

// A Plotly figure with one panel per quantity and marks as lines. Down-sampling keeps the least and
// the greatest value of every bucket, so no peak is lost.
std::string plot_json(const OpenRows& open, const PlotOptions& options);

// The points that plot_json draws for one series, in order of time: at most two a bucket.
class MinMaxSampler {
 public:
  MinMaxSampler(std::int64_t duration_ns, int buckets);
  void add(std::int64_t t_ns, double value);
  std::vector<std::pair<std::int64_t, double>> points() const;
  // The same for a figure.
  struct Curve {
    std::vector<double> seconds, values;
  };
  Curve curve(double scale = 1) const;

 private:
  struct Bucket {
    std::int64_t t_min = 0, t_max = 0;
    double min = 0, max = 0;
    bool used = false;
  };
  std::int64_t width_ns_;
  std::vector<Bucket> buckets_;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_SUMMARY_HPP
