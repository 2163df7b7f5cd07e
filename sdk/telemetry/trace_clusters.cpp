// SPDX-License-Identifier: Apache-2.0
// Two clusters of a one-dimensional sample, exactly, and the labels that follow from them.
#include <algorithm>
#include <limits>

#include "omen/telemetry/trace_phases.hpp"

namespace omen::telemetry {

std::optional<TwoClusters> two_clusters(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  if (values.size() < 2 || values.front() == values.back()) return std::nullopt;
  // Around the middle value sums of squares keep their digits, also for bytes.
  const double centre = values[values.size() / 2];
  double total = 0;
  for (const double value : values) total += value - centre;
  const auto count = static_cast<double>(values.size());
  double best = -1, low = 0, best_low = 0;
  std::size_t split = 0;
  for (std::size_t k = 1; k < values.size(); ++k) {
    low += values[k - 1] - centre;
    if (values[k] == values[k - 1]) continue;
    // The least within-cluster sum is the greatest between-cluster sum.
    const double high = total - low;
    const auto n = static_cast<double>(k);
    const double between = low * low / n + high * high / (count - n);
    if (between <= best) continue;
    best = between;
    best_low = low;
    split = k;
  }
  const auto n = static_cast<double>(split);
  TwoClusters clusters;
  clusters.low_mean = centre + best_low / n;
  clusters.high_mean = centre + (total - best_low) / (count - n);
  clusters.low_max = values[split - 1];
  clusters.high_min = values[split];
  clusters.high_share = (count - n) / count;
  return clusters;
}

LegacyPhases legacy_phases(const std::vector<double>& values, double peak_threshold) {
  LegacyPhases out;
  if (values.empty()) return out;
  out.clusters = two_clusters(values);
  // Without two different values everything is one cluster, and that one is not idle.
  const double least_burst =
      out.clusters ? out.clusters->high_min : -std::numeric_limits<double>::infinity();
  double samples[2] = {0, 0}, runs[2] = {0, 0}, peaks = 0;
  int before = -1;
  for (const double value : values) {
    const int label = value >= least_burst ? 1 : 0;
    samples[label] += 1;
    if (label != before) runs[label] += 1;
    before = label;
    if (value > peak_threshold) peaks += 1;
  }
  const auto count = static_cast<double>(values.size());
  out.burst_share = samples[1] / count;
  out.idle_share = samples[0] / count;
  out.mean_burst_run = runs[1] > 0 ? samples[1] / runs[1] : 0;
  out.mean_idle_run = runs[0] > 0 ? samples[0] / runs[0] : 0;
  out.peak_share = peaks / count;
  return out;
}

}  // namespace omen::telemetry
