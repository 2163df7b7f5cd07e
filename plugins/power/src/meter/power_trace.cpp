// SPDX-License-Identifier: Apache-2.0
// Sorts rows into sources, and decides which of them are the machine.
#include "meter/power_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace omen::power {
namespace {

using telemetry::TraceSeries;

constexpr const char* kEstimate = "estimate";

// "gpu.power_w" is the power of a gpu.
struct Quantity {
  std::string kind;
  bool counter = false;
};
std::optional<Quantity> quantity_of(const std::string& metric) {
  const std::size_t dot = metric.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string kind = metric.substr(0, dot), what = metric.substr(dot + 1);
  if (kind != "meter" && kind != "gpu" && kind != "rapl" && kind != "hwmon") return std::nullopt;
  if (what == "power_w") return Quantity{kind, false};
  if (what == "energy_j") return Quantity{kind, true};
  return std::nullopt;
}

// Names of the domains and rails, as the recording wrote them down.
std::map<std::pair<std::string, std::int32_t>, std::string> device_names(
    const std::map<std::string, std::string>& facts) {
  std::map<std::pair<std::string, std::int32_t>, std::string> names;
  const auto found = facts.find("devices");
  if (found == facts.end()) return names;
  const auto list = nlohmann::json::parse(found->second, nullptr, false);
  if (!list.is_array()) return names;
  for (const auto& one : list)
    if (one.is_object())
      names[{one.value("family", ""), one.value("index", 0)}] = one.value("name", "");
  return names;
}

struct Collector {
  explicit Collector(double tdp) : tdp_w(tdp) {}

  void take(const std::string& metric, const telemetry::Sample& row) {
    if (const auto quantity = quantity_of(metric)) {
      PowerSource& source = source_of(quantity->kind, row.device);
      (quantity->counter ? source.joules : source.watts).add(row.t_ns, row.value);
    } else if (metric == "cpu.busy_percent" && row.device < 0 && tdp_w > 0) {
      source_of(kEstimate, 0).watts.add(row.t_ns, row.value / 100 * tdp_w);
    } else if (metric == "gpu.throttled" && row.value > 0) {
      trace.throttled_ns.push_back(row.t_ns);
    } else if (metric.rfind("mark.", 0) == 0) {
      trace.marks.emplace_back(row.t_ns, metric.substr(5));
    } else if (metric == "job.start_s") {
      start_s = row.value;
    } else if (metric == "job.wall_s") {
      wall_s = row.value;
    } else if (metric == "job.exit_code") {
      trace.exit_code = static_cast<int>(row.value);
    } else if (metric == "job.signal" && row.value > 0) {
      trace.exit_code = 128 + static_cast<int>(row.value);
    }
  }
  PowerSource& source_of(const std::string& kind, std::int32_t device) {
    for (PowerSource& source : trace.sources)
      if (source.kind == kind && source.device == device) return source;
    trace.sources.push_back({kind, device, {}, TraceSeries(), TraceSeries()});
    return trace.sources.back();
  }
  PowerTrace finish(const std::map<std::pair<std::string, std::int32_t>, std::string>& names) {
    if (start_s && wall_s) {
      const auto begin = static_cast<std::int64_t>(*start_s * 1e9);
      trace.job = telemetry::Window{begin, begin + static_cast<std::int64_t>(*wall_s * 1e9)};
    }
    for (PowerSource& source : trace.sources)
      if (const auto name = names.find({source.kind, source.device}); name != names.end())
        source.name = name->second;
    std::sort(trace.marks.begin(), trace.marks.end());
    return std::move(trace);
  }

  double tdp_w;
  PowerTrace trace;
  std::optional<double> start_s, wall_s;
};

bool is_platform(const PowerSource& source) {
  return source.kind == "rapl" && source.name.rfind("psys", 0) == 0;
}
// Cores and graphics are part of their package; memory is not.
bool is_part_of_package(const PowerSource& source) {
  const std::size_t slash = source.name.find('/');
  return source.kind == "rapl" && slash != std::string::npos &&
         source.name.substr(slash) != "/dram";
}
double mean_of(const TraceSeries& series) {
  double sum = 0;
  for (const telemetry::TracePoint& point : series.points()) sum += point.value;
  return series.points().empty() ? 0 : sum / static_cast<double>(series.points().size());
}

}  // namespace

std::vector<PowerTrace> read_power(telemetry::RowReader& rows, double tdp_w) {
  std::map<std::int64_t, Collector> workloads;
  std::vector<telemetry::LogRow> some;
  while (rows.next(some))
    for (const telemetry::LogRow& row : some) {
      const auto at = workloads.try_emplace(row.workload_id, tdp_w).first;
      at->second.take(rows.metrics()[static_cast<std::size_t>(row.sample.metric)], row.sample);
    }
  const auto names = device_names(rows.metadata());
  std::vector<PowerTrace> traces;
  for (auto& [id, collector] : workloads) traces.push_back(collector.finish(names));
  return traces;
}

bool choose_sources(PowerTrace& trace, const std::string& kind) {
  std::vector<PowerSource>& all = trace.sources;
  std::erase_if(all, [&](const PowerSource& source) {
    const bool empty = source.watts.points().size() < 2 && source.joules.points().size() < 2;
    return empty || (!kind.empty() && source.kind != kind);
  });
  const auto has = [&](const auto& wanted) { return std::any_of(all.begin(), all.end(), wanted); };
  const auto of_kind = [](const char* name) {
    return [name](const PowerSource& source) { return source.kind == name; };
  };
  if (has(of_kind("meter"))) {
    std::erase_if(all, [](const PowerSource& source) { return source.kind != "meter"; });
  } else if (has(of_kind("gpu")) || has(of_kind("rapl"))) {
    const bool platform = has(is_platform);
    std::erase_if(all, [&](const PowerSource& source) {
      if (source.kind == "rapl")
        return platform ? !is_platform(source) : is_part_of_package(source);
      return source.kind != "gpu";
    });
  } else if (has(of_kind("hwmon"))) {
    std::erase_if(all, [](const PowerSource& source) { return source.kind != "hwmon"; });
    const auto largest =
        std::max_element(all.begin(), all.end(), [](const PowerSource& a, const PowerSource& b) {
          return mean_of(a.watts) < mean_of(b.watts);
        });
    all = {*largest};
  }
  return !all.empty();
}

Drawn drawn_in(const PowerTrace& trace, const telemetry::Window& window) {
  Drawn sum;
  for (const PowerSource& source : trace.sources) {
    const auto points = [](const TraceSeries& series) {
      return series.points().size() < 2 ? nullptr : &series;
    };
    const telemetry::Energy one = telemetry::energy_of(
        source.kind, source.device, points(source.watts), points(source.joules), window);
    sum.joules += one.joules;
    sum.seconds = std::max(sum.seconds, one.seconds);
    if (sum.remark.empty()) sum.remark = one.remark;
    const std::string method = source.kind == kEstimate ? "estimated" : one.method;
    if (sum.method.empty() || method != "counter") sum.method = method;
  }
  return sum;
}

}  // namespace omen::power
