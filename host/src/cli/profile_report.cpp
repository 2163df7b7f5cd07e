// SPDX-License-Identifier: Apache-2.0
// Picks, groups and words the figures of a trace.
#include "cli/profile_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/profile_stats.hpp"
#include "omen/job_metrics.h"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

using telemetry::Sample;
using telemetry::SeriesSummary;
using telemetry::Summary;

// In the order of the table.
constexpr std::array<std::string_view, 30> kShown = {"cpu.busy_percent",
                                                     "proc.cpu_percent",
                                                     "proc.rss_bytes",
                                                     "proc.processes",
                                                     "mem.used_bytes",
                                                     "gpu.util_percent",
                                                     "gpu.mem_util_percent",
                                                     "gpu.mem_used_bytes",
                                                     "gpu.power_w",
                                                     "gpu.power_memory_w",
                                                     "gpu.energy_j",
                                                     "gpu.clock_sm_mhz",
                                                     "gpu.temperature_c",
                                                     "gpu.throttled",
                                                     "gpu.pcie_rx_bytes_per_s",
                                                     "gpu.pcie_tx_bytes_per_s",
                                                     "rapl.power_w",
                                                     "rapl.energy_j",
                                                     "meter.power_w",
                                                     "hwmon.power_w",
                                                     "disk.read_bytes_per_s",
                                                     "disk.write_bytes_per_s",
                                                     "nic.rx_bytes_per_s",
                                                     "nic.tx_bytes_per_s",
                                                     "cgroup.cpu_percent",
                                                     "cgroup.throttled_percent",
                                                     "cgroup.memory_bytes",
                                                     "cgroup.oom_kills",
                                                     "proc.read_bytes_per_s",
                                                     "proc.write_bytes_per_s"};

// One metric of one device over all workloads of a trace.
struct ReportLine {
  std::string metric;
  std::int32_t device = Sample::kWholeMachine, pid = 0;
  std::vector<double> means;
  double p95 = 0, max = 0, last = 0;
  bool busiest = false;

  double mean() const {
    double sum = 0;
    for (const double value : means) sum += value;
    return sum / static_cast<double>(means.size());
  }
  // Variance of the mean over repetitions; nothing for a single one.
  std::optional<double> error_squared() const {
    if (means.size() < 2) return std::nullopt;
    const double centre = mean();
    double sum = 0;
    for (const double value : means) sum += (value - centre) * (value - centre);
    const auto count = static_cast<double>(means.size());
    return sum / (count - 1) / count;
  }
};

// The pid of a job differs from run to run, so the job's own series are joined whatever it is.
std::vector<ReportLine> lines_of(const Summary& summary) {
  std::vector<ReportLine> lines;
  std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::size_t> places;
  for (const auto& [key, series] : summary.series) {
    const std::int32_t pid = key.metric.starts_with("proc.") ? 0 : key.pid;
    const auto [at, fresh] = places.try_emplace({key.metric, key.device, pid}, lines.size());
    if (fresh) {
      lines.emplace_back();
      lines.back().metric = key.metric;
      lines.back().device = key.device;
      lines.back().pid = pid;
    }
    ReportLine& line = lines[at->second];
    line.means.push_back(series.mean());
    line.p95 = std::max(line.p95, series.quantile(0.95));
    line.max = line.means.size() == 1 ? series.max() : std::max(line.max, series.max());
    line.last = series.last();
  }
  return lines;
}

// Families that recordings of this machine have; what another profiler measures is always shown.
bool is_common(const std::string& metric) {
  constexpr std::array<std::string_view, 14> kFamilies = {"cpu", "proc",    "mem",  "sys",   "disk",
                                                          "nic", "cgroup",  "rapl", "hwmon", "gpu",
                                                          "job", "sampler", "mark", "meter"};
  const std::string family = metric.substr(0, metric.find('.'));
  return std::find(kFamilies.begin(), kFamilies.end(), family) != kFamilies.end();
}

// Of the cores only the busiest is of interest at first.
std::vector<ReportLine> chosen(std::vector<ReportLine> lines, bool all) {
  if (all) return lines;
  std::vector<ReportLine> picked;
  for (const ReportLine& line : lines)
    if (!is_common(line.metric)) picked.push_back(line);
  for (const std::string_view metric : kShown) {
    ReportLine* busiest = nullptr;
    for (ReportLine& line : lines) {
      if (line.metric != metric || line.pid != 0) continue;
      // An interface or disk without any traffic says nothing.
      if (line.max == 0 && metric.ends_with("_per_s")) continue;
      const bool core = metric == "cpu.busy_percent" && line.device != Sample::kWholeMachine;
      if (!core)
        picked.push_back(line);
      else if (!busiest || line.mean() > busiest->mean())
        busiest = &line;
    }
    if (!busiest) continue;
    picked.push_back(*busiest);
    picked.back().busiest = true;
  }
  return picked;
}

// Names of devices by family and number, as the recording wrote them down.
class DeviceNames {
 public:
  explicit DeviceNames(const Summary& summary) {
    const auto text = summary.metadata.find("devices");
    if (text == summary.metadata.end()) return;
    const auto list = nlohmann::json::parse(text->second, nullptr, false);
    if (!list.is_array()) return;
    for (const auto& device : list)
      if (device.is_object())
        names_[{device.value("family", ""), device.value("index", 0)}] = device.value("name", "");
  }
  std::string text(const ReportLine& line) const {
    if (line.device == Sample::kWholeMachine)
      return line.metric.starts_with("proc.") ? "job" : "all";
    const std::string family = line.metric.substr(0, line.metric.find('.'));
    const auto at = names_.find({family, line.device});
    std::string name =
        at == names_.end() || at->second.empty() ? std::to_string(line.device) : at->second;
    if (family == "gpu" && at != names_.end()) name = std::to_string(line.device) + " " + name;
    if (line.busiest) name += " (busiest)";
    if (line.pid != 0) name += " pid " + std::to_string(line.pid);
    return name;
  }

 private:
  std::map<std::pair<std::string, std::int32_t>, std::string> names_;
};

std::string value_text(const std::string& metric, double value) {
  if (metric.ends_with("_bytes")) return format_bytes(value);
  if (metric.ends_with("_bytes_per_s")) return format_bytes(value) + "/s";
  return format_number(value);
}

std::string change_text(double before, double after) {
  if (before == after) return "0 %";
  if (before == 0) return "new";
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (after - before) / std::abs(before));
  return text;
}

bool differs(const ReportLine& a, const ReportLine& b) {
  const auto ea = a.error_squared(), eb = b.error_squared();
  if (!ea || !eb || *ea + *eb <= 0) return false;
  return std::abs(a.mean() - b.mean()) / std::sqrt(*ea + *eb) > 3;
}

struct Pair {
  const ReportLine *a, *b;
};
std::vector<Pair> pairs_of(const std::vector<ReportLine>& a, const std::vector<ReportLine>& b) {
  std::vector<Pair> pairs;
  for (const ReportLine& line : a)
    for (const ReportLine& other : b)
      if (line.metric == other.metric && line.device == other.device && line.pid == other.pid)
        pairs.push_back({&line, &other});
  return pairs;
}

void put_series(JsonWriter& json, const Summary& summary) {
  json.key("series").array();
  for (const auto& [key, series] : summary.series)
    json.object()
        .field("workload_id", key.workload_id)
        .field("metric", key.metric)
        .field("device", key.device)
        .field("pid", key.pid)
        .field("rows", series.rows())
        .field("mean", series.mean())
        .field("min", series.min())
        .field("p50", series.quantile(0.5))
        .field("p95", series.quantile(0.95))
        .field("max", series.max())
        .field("last", series.last())
        .end();
  json.end();
}

}  // namespace

std::string trace_headline(const Summary& summary) {
  std::string text;
  char part[160];
  const auto workloads = summary.workloads();
  if (workloads.size() > 1) text += std::to_string(workloads.size()) + " runs, ";
  const std::int64_t last = workloads.empty() ? 0 : workloads.back();
  if (const SeriesSummary* wall = summary.find("job.wall_s", -1, last)) {
    std::snprintf(part, sizeof part, "%.2f s", wall->last());
    text += part;
  }
  if (const SeriesSummary* code = summary.find(OMEN_METRIC_EXIT_CODE, -1, last))
    text += ", exit " + std::to_string(static_cast<int>(code->last()));
  if (const SeriesSummary* signal = summary.find(OMEN_METRIC_SIGNAL, -1, last))
    text += ", ended by signal " + std::to_string(static_cast<int>(signal->last()));
  const auto cost = [&](const char* metric) -> const SeriesSummary* {
    return summary.find(metric, 0, last);
  };
  if (cost("sampler.cpu_percent")) {
    std::snprintf(part, sizeof part,
                  "; sampler %.2f %% of a core, late by %.2f ms (p50) and %.2f ms (p99), %.0f of "
                  "%.0f ticks missed",
                  cost("sampler.cpu_percent")->last(), cost("sampler.lateness_p50_ms")->last(),
                  cost("sampler.lateness_p99_ms")->last(), cost("sampler.missed_ticks")->last(),
                  cost("sampler.ticks")->last() + cost("sampler.missed_ticks")->last());
    text += part;
  }
  return text.empty() ? std::to_string(summary.rows) + " rows" : text;
}

TextTable trace_table(const Summary& summary, bool all) {
  const DeviceNames names(summary);
  const bool several = summary.workloads().size() > 1;
  std::vector<Heading> headings = {{"metric"}, {"where", false, true}, {"mean", true}};
  if (several) headings.push_back({"+-", true});
  headings.push_back({"p95", true});
  headings.push_back({"most", true});
  TextTable table(headings);
  for (const ReportLine& line : chosen(lines_of(summary), all)) {
    std::vector<Cell> row = {
        line.metric, names.text(line), {value_text(line.metric, line.mean()), Style::kStrong}};
    if (several)
      row.emplace_back(
          line.error_squared() ? value_text(line.metric, std::sqrt(*line.error_squared())) : "-");
    row.emplace_back(value_text(line.metric, line.p95));
    row.emplace_back(value_text(line.metric, line.max));
    table.add(std::move(row));
  }
  return table;
}

std::string trace_json(const Summary& summary, const telemetry::TraceStats& stats,
                       const std::string& profiler, const std::string& trace,
                       const std::string& plot) {
  JsonWriter json;
  json.object().field("format_version", 1).field("profiler", profiler);
  if (!trace.empty()) json.field("trace", trace);
  if (!plot.empty()) json.field("plot", plot);
  json.field("rows", summary.rows);
  for (const char* fact : {"command", "devices", "notes", "interval_ns"}) {
    const auto at = summary.metadata.find(fact);
    if (at == summary.metadata.end()) continue;
    // A trace that somebody else wrote may hold anything there.
    if (nlohmann::json::accept(at->second))
      json.key(fact).raw(at->second);
    else
      json.field(fact, at->second);
  }
  put_series(json, summary);
  put_stats(json, stats);
  return json.end().text();
}

TextTable trace_diff(const Summary& a, const Summary& b, bool all) {
  const DeviceNames names(a);
  const std::vector<ReportLine> before = chosen(lines_of(a), all), after = lines_of(b);
  TextTable table(
      {{"metric"}, {"where", false, true}, {"A", true}, {"B", true}, {"change", true}, {""}});
  for (const Pair& pair : pairs_of(before, after))
    table.add({pair.a->metric,
               names.text(*pair.a),
               value_text(pair.a->metric, pair.a->mean()),
               value_text(pair.a->metric, pair.b->mean()),
               {change_text(pair.a->mean(), pair.b->mean()), Style::kStrong},
               differs(*pair.a, *pair.b) ? "*" : ""});
  return table;
}

std::string trace_diff_json(const Summary& a, const Summary& b) {
  const std::vector<ReportLine> before = lines_of(a), after = lines_of(b);
  JsonWriter json;
  json.object().field("format_version", 1).key("series").array();
  for (const Pair& pair : pairs_of(before, after))
    json.object()
        .field("metric", pair.a->metric)
        .field("device", pair.a->device)
        .field("a", pair.a->mean())
        .field("b", pair.b->mean())
        .field("differs", differs(*pair.a, *pair.b))
        .end();
  return json.end().end().text();
}

std::string absent_parts(const Summary& summary, bool with_reasons) {
  const auto text = summary.metadata.find("notes");
  if (text == summary.metadata.end()) return {};
  const auto list = nlohmann::json::parse(text->second, nullptr, false);
  std::string parts;
  if (!list.is_array()) return parts;
  for (const auto& entry : list) {
    if (!entry.is_object() || entry.value("kind", "") != "absent") continue;
    parts += parts.empty() ? "" : with_reasons ? "\n  " : ", ";
    parts += entry.value("source", "");
    if (with_reasons) parts += ": " + entry.value("message", "") + "; " + entry.value("hint", "");
  }
  return parts;
}

}  // namespace omen::host::cli
