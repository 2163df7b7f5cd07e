// SPDX-License-Identifier: Apache-2.0
// Reads a trace twice: once for the values of resources, once for steps and outcome.
#include "sweep/trace_labels.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/trace_phases.hpp"
#include "omen/telemetry/trace_stats.hpp"

namespace omen::driple {
namespace {

constexpr double kPeakShare = 0.9;

struct Metric {
  const char* name;
  Resource resource;
  bool of_gpu;
};
constexpr std::array<Metric, 4> kMetrics = {{{"gpu.mem_util_percent", Resource::gpu_mem_util, true},
                                             {"gpu.util_percent", Resource::gpu_util, true},
                                             {"cpu.busy_percent", Resource::cpu_util, false},
                                             {"gpu.mem_used_bytes", Resource::gpu_memory, true}}};
constexpr const char* kMemoryTotal = "gpu.mem_total_bytes";
constexpr const char* kWall = "job.wall_s";

struct TraceValues {
  std::map<Resource, telemetry::TraceSeries> series;
  double memory_bytes = 0;
  std::optional<double> seconds;
  std::int64_t last_ns = 0;  // times count from the first sample
};

// Traces without a device column have the whole machine as that of everything.
bool is_first_gpu(std::int32_t device) {
  return device == 0 || device == telemetry::Sample::kWholeMachine;
}

void take(const std::string& metric, const telemetry::Sample& sample, TraceValues& values) {
  values.last_ns = std::max(values.last_ns, sample.t_ns);
  if (metric == kWall) values.seconds = sample.value;
  if (metric == kMemoryTotal && is_first_gpu(sample.device)) values.memory_bytes = sample.value;
  for (const Metric& known : kMetrics) {
    if (metric != known.name) continue;
    const bool ours = known.of_gpu ? is_first_gpu(sample.device)
                                   : sample.device == telemetry::Sample::kWholeMachine;
    if (ours) values.series[known.resource].add(sample.t_ns, sample.value);
  }
}

TraceValues read_values(const telemetry::OpenRows& open) {
  TraceValues values;
  const telemetry::RowReaderPtr reader = open();
  std::vector<telemetry::LogRow> rows;
  while (reader->next(rows))
    for (const telemetry::LogRow& row : rows)
      take(reader->metrics()[static_cast<std::size_t>(row.sample.metric)], row.sample, values);
  return values;
}

}  // namespace

TraceLabels labels_of_trace(const std::filesystem::path& trace, const TraceOptions& options) {
  const telemetry::OpenRows open = [&] {
    return telemetry::open_trace(trace, {"auto", options.period_s});
  };
  const TraceValues values = read_values(open);
  const double memory = options.memory_bytes > 0 ? options.memory_bytes : values.memory_bytes;
  TraceLabels labels;
  labels.seconds = values.seconds;
  labels.covered_s = 1e-9 * static_cast<double>(values.last_ns);
  for (const Metric& metric : kMetrics) {
    const auto series = values.series.find(metric.resource);
    if (series == values.series.end()) continue;
    const bool bytes = metric.resource == Resource::gpu_memory;
    const double top = bytes ? (memory > 0 ? memory : INFINITY) : 100;
    const telemetry::LegacyPhases shares =
        telemetry::legacy_phases(series->second.values(), kPeakShare * top);
    const telemetry::Phases phases = telemetry::find_phases(
        series->second, telemetry::phase_options_of(metric.name, series->second));
    labels.resources.push_back({metric.resource, shares.idle_share, shares.burst_share,
                                shares.peak_share, telemetry::verdict_text(phases.verdict)});
  }
  const telemetry::TraceStats stats = telemetry::trace_stats(open);
  if (!stats.workloads.empty()) {
    labels.outcome = stats.workloads.front().outcome;
    if (stats.workloads.front().step) labels.step_s = stats.workloads.front().step->p50_s;
  }
  return labels;
}

std::vector<std::string> job_of_file(const std::filesystem::path& trace) {
  std::vector<std::string> parts;
  std::istringstream name(trace.stem().string());
  for (std::string part; std::getline(name, part, '_');) parts.push_back(part);
  if (parts.size() < 6) return {};
  std::string model = parts[1];
  for (std::size_t i = 2; i + 4 < parts.size(); ++i) model += "_" + parts[i];
  const std::size_t n = parts.size();
  return {parts[0], model, parts[n - 4], parts[n - 3], parts[n - 2], parts[n - 1]};
}

}  // namespace omen::driple
