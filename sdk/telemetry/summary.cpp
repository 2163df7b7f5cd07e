// SPDX-License-Identifier: Apache-2.0
// Figures per series.
#include "omen/telemetry/summary.hpp"

#include <algorithm>
#include <set>

namespace omen::telemetry {
namespace {
// A histogram takes 13 kB; a run with ever new processes must not fill the memory with them.
constexpr std::size_t kMostSummarySeries = 5000;
}  // namespace

void SeriesSummary::add(std::int64_t t_ns, double value) {
  if (rows_ == 0) {
    first_t_ns_ = last_t_ns_ = t_ns;
    min_ = max_ = value;
  }
  const auto weight = static_cast<double>(std::max<std::int64_t>(0, t_ns - last_t_ns_));
  // What the first row covers is not known; it counts as much as the second.
  if (rows_ == 1) {
    weighted_sum_ = last_ * weight;
    weight_sum_ = weight;
  }
  weighted_sum_ += value * weight;
  weight_sum_ += weight;
  plain_sum_ += value;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  last_ = value;
  last_t_ns_ = std::max(last_t_ns_, t_ns);
  ++rows_;
  histogram_.add(value);
}

double SeriesSummary::mean() const noexcept {
  if (rows_ == 0) return 0;
  if (weight_sum_ > 0) return weighted_sum_ / weight_sum_;
  return plain_sum_ / static_cast<double>(rows_);
}

const SeriesSummary* Summary::find(const std::string& metric, std::int32_t device,
                                   std::int64_t workload_id) const {
  for (const auto& [key, value] : series)
    if (key.workload_id == workload_id && key.metric == metric && key.device == device)
      return &value;
  return nullptr;
}

std::vector<std::int64_t> Summary::workloads() const {
  std::set<std::int64_t> ids;
  for (const auto& [key, value] : series) ids.insert(key.workload_id);
  return {ids.begin(), ids.end()};
}

Summary summarise(RowReader& reader) {
  struct Short {
    std::int64_t workload;
    std::int32_t metric, device, pid;
    auto operator<=>(const Short&) const = default;
  };
  Summary summary;
  std::map<Short, SeriesSummary> found;
  std::vector<LogRow> rows;
  while (reader.next(rows)) {
    summary.rows += static_cast<std::int64_t>(rows.size());
    for (const LogRow& row : rows) {
      const Sample& s = row.sample;
      const Short key{row.workload_id, s.metric, s.device, s.pid};
      auto at = found.find(key);
      if (at == found.end()) {
        if (found.size() >= kMostSummarySeries) {
          ++summary.left_out;
          continue;
        }
        at = found.try_emplace(key).first;
      }
      at->second.add(s.t_ns, s.value);
    }
  }
  for (auto& [key, value] : found)
    summary.series.emplace(
        SeriesKey{key.workload, reader.metrics()[static_cast<std::size_t>(key.metric)], key.device,
                  key.pid},
        value);
  summary.metadata = reader.metadata();
  return summary;
}

}  // namespace omen::telemetry
