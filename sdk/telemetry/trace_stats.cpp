// SPDX-License-Identifier: Apache-2.0
// Collects the series that the statistics need, then asks each of them.
#include "omen/telemetry/trace_stats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "omen/job_metrics.h"
#include "omen/telemetry/clock.hpp"

namespace omen::telemetry {
namespace {

constexpr std::size_t kMostSeries = 64;
constexpr std::size_t kMostMarks = 100'000;
constexpr double kWindow_s = 30;
constexpr std::int64_t kEndNs = 10 * kNsPerSecond;  // what counts as the end of a run

constexpr std::array<std::string_view, 7> kPhaseMetrics = {
    "gpu.util_percent", "gpu.mem_util_percent", "gpu.mem_used_bytes", "gpu.power_w",
    "cpu.busy_percent", "proc.cpu_percent",     "meter.power_w"};
constexpr std::array<std::string_view, 15> kOtherMetrics = {"gpu.power_w",
                                                            "meter.power_w",
                                                            "cpu.busy_percent",
                                                            "gpu.energy_j",
                                                            "rapl.power_w",
                                                            "rapl.energy_j",
                                                            "hwmon.power_w",
                                                            "cpu.usr_percent",
                                                            "cgroup.oom_kills",
                                                            "cgroup.memory_bytes",
                                                            "cgroup.memory_limit_bytes",
                                                            "mem.used_bytes",
                                                            "mem.total_bytes",
                                                            "gpu.mem_total_bytes",
                                                            "gpu.mem_used_bytes"};

template <class List>
bool in(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

struct Place {
  std::string metric;
  std::int32_t device = Sample::kWholeMachine, pid = 0;
  auto operator<=>(const Place&) const = default;
};

// What one workload left behind.
struct Collected {
  std::map<Place, TraceSeries> series;
  std::map<std::string, double> job;  // last value of job.*
  std::map<std::string, std::vector<std::int64_t>> marks;
  std::set<std::int32_t> cores;

  const TraceSeries* find(const std::string& metric, std::int32_t device) const {
    for (const auto& [place, found] : series)
      if (place.metric == metric && place.device == device && !found.points().empty())
        return &found;
    return nullptr;
  }
  std::optional<double> job_value(const std::string& name) const {
    const auto at = job.find(name);
    return at == job.end() ? std::nullopt : std::optional(at->second);
  }
  // From the start of the job to its end, where both are known.
  Window window() const {
    const auto start = job_value("job.start_s"), wall = job_value("job.wall_s");
    if (!start || !wall) return {};
    const auto begin = static_cast<std::int64_t>(*start * 1e9);
    return {begin, begin + static_cast<std::int64_t>(*wall * 1e9)};
  }
};

// epoch-1, epoch-2 ... are marks of one kind.
std::string mark_kind(std::string name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  while (!name.empty() && std::string_view("-_.: ").find(name.back()) != std::string_view::npos)
    name.pop_back();
  return name;
}

class Collector {
 public:
  explicit Collector(const TraceStatsOptions& options) : options_(options) {}

  bool has_phases(std::string_view metric) const {
    return options_.metrics.empty() ? in(kPhaseMetrics, metric) : in(options_.metrics, metric);
  }

  void take(const std::vector<std::string>& metrics, const LogRow& row) {
    const Sample& s = row.sample;
    const std::string& metric = metrics[static_cast<std::size_t>(s.metric)];
    switch (use_of(metrics, s)) {
      case Use::kNone:
        break;
      case Use::kJob:
        workloads_[row.workload_id].job[metric] = s.value;
        break;
      case Use::kMark: {
        auto& times = workloads_[row.workload_id].marks[mark_kind(metric.substr(5))];
        if (times.size() < kMostMarks) times.push_back(s.t_ns);
        break;
      }
      case Use::kCore:
        workloads_[row.workload_id].cores.insert(s.device);
        break;
      case Use::kSeries:
        if (TraceSeries* series = series_of(metric, row)) series->add(s.t_ns, s.value);
        break;
    }
  }

  const std::map<std::int64_t, Collected>& workloads() const { return workloads_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  enum class Use : std::uint8_t { kNone, kJob, kMark, kCore, kSeries };

  // Days of rows pass here, so what a metric is for is decided once.
  Use use_of(const std::vector<std::string>& metrics, const Sample& s) {
    for (std::size_t i = uses_.size(); i < metrics.size(); ++i) {
      const std::string& metric = metrics[i];
      const bool wanted = has_phases(metric) || in(kOtherMetrics, metric);
      uses_.push_back(metric.starts_with("job.")    ? Use::kJob
                      : metric.starts_with("mark.") ? Use::kMark
                      : wanted                      ? Use::kSeries
                                                    : Use::kNone);
      of_cores_.push_back(metric == "cpu.busy_percent" || metric == "cpu.usr_percent");
    }
    const auto at = static_cast<std::size_t>(s.metric);
    return of_cores_[at] && s.device != Sample::kWholeMachine ? Use::kCore : uses_[at];
  }

  // Nothing for a series beyond the first kMostSeries.
  TraceSeries* series_of(const std::string& metric, const LogRow& row) {
    const Sample& s = row.sample;
    const auto [at, fresh] =
        places_.try_emplace({row.workload_id, s.metric, s.device, s.pid}, nullptr);
    if (!fresh) return at->second;
    if (series_ >= kMostSeries) {
      ++left_out_;
      return nullptr;
    }
    ++series_;
    at->second = &workloads_[row.workload_id].series[Place{metric, s.device, s.pid}];
    return at->second;
  }

  const TraceStatsOptions& options_;
  std::map<std::int64_t, Collected> workloads_;
  std::vector<Use> uses_;
  std::vector<bool> of_cores_;
  std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int32_t>, TraceSeries*>
      places_;
  std::size_t series_ = 0;
  std::int64_t left_out_ = 0;
};

// Windows that are covered for less than half say nothing, unless there is no other.
double greatest_window_mean(const TraceSeries& series) {
  const std::vector<double> covered = series.covered_s();
  double best = 0, sum = 0, seconds = 0, all = 0, all_s = 0;
  bool any = false;
  const auto close = [&] {
    if (seconds >= kWindow_s / 2 && (!any || sum / seconds > best)) {
      best = sum / seconds;
      any = true;
    }
    sum = seconds = 0;
  };
  std::int64_t window = -1;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const TracePoint& point = series.points()[i];
    const std::int64_t here =
        (point.t_ns - series.points()[0].t_ns) / static_cast<std::int64_t>(kWindow_s * 1e9);
    if (here != window) close();
    window = here;
    sum += point.value * covered[i];
    seconds += covered[i];
    all += point.value * covered[i];
    all_s += covered[i];
  }
  close();
  if (any) return best;
  return all_s > 0 ? all / all_s : series.points()[0].value;
}

SeriesPhases figures_of(const Place& place, const TraceSeries& series) {
  SeriesPhases out;
  out.metric = place.metric;
  out.device = place.device;
  out.pid = place.pid;
  out.rows = series.rows();
  out.dropped_rows = series.dropped();
  const PhaseOptions options = phase_options_of(place.metric, series);
  out.phases = find_phases(series, options);
  std::vector<double> values = series.values();
  out.legacy = legacy_phases(values, options.peak * options.top);
  const auto all = integrate(series);
  std::sort(values.begin(), values.end());
  out.min = values.front();
  out.max = values.back();
  out.p95 = values[static_cast<std::size_t>(0.95 * static_cast<double>(values.size() - 1) + 0.5)];
  out.mean = all ? all->value / all->seconds : values.front();
  out.max_30s = greatest_window_mean(series);
  return out;
}

std::vector<Energy> energies_of(const Collected& run, double tdp_w) {
  struct Pair {
    const char *source, *power, *counter;
  };
  constexpr std::array<Pair, 4> kPairs = {{{"gpu", "gpu.power_w", "gpu.energy_j"},
                                           {"rapl", "rapl.power_w", "rapl.energy_j"},
                                           {"meter", "meter.power_w", ""},
                                           {"hwmon", "hwmon.power_w", ""}}};
  std::vector<Energy> all;
  for (const Pair& pair : kPairs) {
    std::set<std::int32_t> devices;
    for (const auto& [place, series] : run.series)
      if (place.metric == pair.power || place.metric == pair.counter) devices.insert(place.device);
    for (const std::int32_t device : devices) {
      Energy energy = energy_of(pair.source, device, run.find(pair.power, device),
                                run.find(pair.counter, device), run.window());
      if (energy.trapezoid_j || energy.counter_j) all.push_back(std::move(energy));
    }
  }
  const bool measured = std::any_of(all.begin(), all.end(), [](const Energy& energy) {
    return energy.source == "rapl" || energy.source == "meter";
  });
  const TraceSeries* busy = run.find("cpu.busy_percent", Sample::kWholeMachine);
  if (!measured && tdp_w > 0 && busy)
    if (auto estimate = estimated_energy(*busy, tdp_w, run.window()))
      all.push_back(std::move(*estimate));
  return all;
}

// Marks that are called after a step come first, then the kind that comes most often.
std::optional<StepTime> step_from_marks(const Collected& run) {
  const std::vector<std::int64_t>* best = nullptr;
  std::string name;
  for (const char* usual : {"step", "iteration", "iter", "batch"})
    if (const auto at = run.marks.find(usual); !best && at != run.marks.end()) {
      best = &at->second;
      name = usual;
    }
  for (const auto& [kind, times] : run.marks)
    if (!best || (times.size() > best->size() && best->size() < 4)) {
      best = &times;
      name = kind;
    }
  std::optional<StepTime> step = best ? steps_from_marks(*best) : std::nullopt;
  if (step) step->signal = "mark." + name;
  return step;
}

std::optional<StepTime> step_of(const Collected& run, const std::vector<SeriesPhases>& series) {
  if (auto step = step_from_marks(run)) return step;
  for (const char* metric : {"gpu.util_percent", "gpu.power_w", "proc.cpu_percent"}) {
    for (const SeriesPhases& found : series) {
      if (found.metric != metric) continue;
      const Phase* longest = nullptr;
      for (const Phase& phase : found.phases.phases)
        if (phase.kind == PhaseKind::kBurst && (!longest || phase.seconds > longest->seconds))
          longest = &phase;
      // Steps with an idle part of their own are many short bursts: then the whole trace repeats.
      const bool many = found.phases.burst.count > 3;
      const Window window =
          longest && !many ? Window{longest->begin_ns, longest->end_ns} : Window{};
      const TraceSeries* signal = run.find(metric, found.device);
      auto step = signal ? steps_from_period(*signal, window) : std::nullopt;
      if (!step) continue;
      step->signal = metric;
      return step;
    }
  }
  return std::nullopt;
}

double most_at_end(const TraceSeries& series, std::int64_t end_ns) {
  double most = 0;
  for (const TracePoint& point : series.points())
    if (point.t_ns <= end_ns && end_ns - point.t_ns <= kEndNs) most = std::max(most, point.value);
  return most;
}

std::vector<MemoryLevel> memory_of(const Collected& run, std::int64_t end_ns) {
  struct Pair {
    const char *name, *used, *limit;
  };
  constexpr std::array<Pair, 3> kPairs = {
      {{"the control group", "cgroup.memory_bytes", "cgroup.memory_limit_bytes"},
       {"the machine", "mem.used_bytes", "mem.total_bytes"},
       {"GPU ", "gpu.mem_used_bytes", "gpu.mem_total_bytes"}}};
  std::vector<MemoryLevel> levels;
  for (const Pair& pair : kPairs)
    for (const auto& [place, used] : run.series) {
      if (place.metric != pair.used) continue;
      const TraceSeries* limit = run.find(pair.limit, place.device);
      if (!limit) continue;
      std::string name = pair.name;
      if (name.back() == ' ') name += std::to_string(place.device);
      levels.push_back({name, most_at_end(used, end_ns), limit->points().back().value});
    }
  return levels;
}

RunFacts facts_of(const Collected& run, const std::map<std::string, std::string>& metadata,
                  std::int64_t workload_id) {
  RunFacts facts;
  if (const auto code = run.job_value(OMEN_METRIC_EXIT_CODE))
    facts.exit_code = static_cast<int>(*code);
  if (const auto signal = run.job_value(OMEN_METRIC_SIGNAL))
    facts.signal = static_cast<int>(*signal);
  if (const auto pid = run.job_value("job.pid")) facts.pid = static_cast<std::int32_t>(*pid);
  if (const TraceSeries* kills = run.find("cgroup.oom_kills", Sample::kWholeMachine))
    facts.oom_kills = kills->points().back().value - kills->points().front().value;
  std::int64_t end_ns = run.window().end_ns;
  if (end_ns == Window{}.end_ns) {
    end_ns = 0;
    for (const auto& [place, series] : run.series)
      if (!series.points().empty()) end_ns = std::max(end_ns, series.points().back().t_ns);
  }
  facts.memory = memory_of(run, end_ns);
  const auto text = metadata.find("kernel_log." + std::to_string(workload_id));
  if (text == metadata.end()) return facts;
  const auto list = nlohmann::json::parse(text->second, nullptr, false);
  if (!list.is_array()) return facts;
  for (const auto& line : list)
    if (line.is_string()) facts.kernel_messages.push_back(line.get<std::string>());
  return facts;
}

std::optional<double> core_seconds(const Collected& run, const char* metric) {
  const TraceSeries* series = run.find(metric, Sample::kWholeMachine);
  if (!series || run.cores.empty()) return std::nullopt;
  const auto share = integrate(*series, run.window());
  if (!share) return std::nullopt;
  return share->value / 100 * static_cast<double>(run.cores.size());
}

}  // namespace

TraceStats trace_stats(const OpenRows& open, const TraceStatsOptions& options) {
  Collector collector(options);
  const RowReaderPtr reader = open();
  std::vector<LogRow> rows;
  while (reader->next(rows))
    for (const LogRow& row : rows) collector.take(reader->metrics(), row);
  TraceStats stats;
  stats.series_left_out = collector.left_out();
  for (const auto& [id, run] : collector.workloads()) {
    WorkloadStats here;
    here.workload_id = id;
    for (const auto& [place, series] : run.series)
      if (collector.has_phases(place.metric) && !series.points().empty())
        here.series.push_back(figures_of(place, series));
    here.energy = energies_of(run, options.processor_tdp_w);
    here.step = step_of(run, here.series);
    here.busy_core_s = core_seconds(run, "cpu.busy_percent");
    here.user_core_s = core_seconds(run, "cpu.usr_percent");
    here.outcome = judge_run(facts_of(run, reader->metadata(), id));
    stats.workloads.push_back(std::move(here));
  }
  return stats;
}

}  // namespace omen::telemetry
