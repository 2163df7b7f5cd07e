// SPDX-License-Identifier: Apache-2.0
// A figure of a trace: a panel for each quantity.
#include <algorithm>
#include <array>
#include <optional>

#include "omen/figure.hpp"
#include "omen/telemetry/summary.hpp"

namespace omen::telemetry {
namespace {

struct Panel {
  std::string_view metric;
  const char* title;
  double scale;
};
// What people look at first, in the order of the panels.
constexpr std::array<Panel, 17> kPanels = {{{"gpu.util_percent", "GPU %", 1},
                                            {"gpu.mem_used_bytes", "GPU memory GB", 1e-9},
                                            {"gpu.power_w", "GPU W", 1},
                                            {"gpu.clock_sm_mhz", "GPU MHz", 1},
                                            {"gpu.temperature_c", "GPU C", 1},
                                            {"gpu.throttled", "GPU throttled", 1},
                                            {"cpu.busy_percent", "CPU %", 1},
                                            {"proc.cpu_percent", "job CPU %", 1},
                                            {"proc.rss_bytes", "job memory GB", 1e-9},
                                            {"mem.used_bytes", "memory GB", 1e-9},
                                            {"rapl.power_w", "CPU W", 1},
                                            {"meter.power_w", "meter W", 1},
                                            {"disk.read_bytes_per_s", "disk read MB/s", 1e-6},
                                            {"disk.write_bytes_per_s", "disk write MB/s", 1e-6},
                                            {"nic.rx_bytes_per_s", "network in MB/s", 1e-6},
                                            {"nic.tx_bytes_per_s", "network out MB/s", 1e-6},
                                            {"cgroup.memory_bytes", "group memory GB", 1e-9}}};

// Series that describe the recording rather than the run.
bool is_closing(std::string_view metric) {
  return metric.substr(0, 4) == "job." || metric.substr(0, 8) == "sampler.";
}
bool is_mark(std::string_view metric) {
  return metric.substr(0, 5) == "mark.";
}

struct Key {
  std::int64_t workload;
  std::int32_t metric, device, pid;
  auto operator<=>(const Key&) const = default;
};
struct Mark {
  std::int64_t t_ns;
  std::string name;
};
struct Chosen {
  std::size_t panel;
  MinMaxSampler points;
};

// Which panel a metric belongs to; panels that are not known come behind the others.
class PanelBook {
 public:
  explicit PanelBook(bool all) : all_(all) {}
  std::optional<std::size_t> panel_of(const std::string& metric) {
    for (std::size_t i = 0; i < kPanels.size(); ++i)
      if (kPanels[i].metric == metric) return i;
    if (!all_ || is_closing(metric) || is_mark(metric)) return std::nullopt;
    const auto at = std::find(others_.begin(), others_.end(), metric);
    const auto index = static_cast<std::size_t>(at - others_.begin());
    if (at == others_.end()) others_.push_back(metric);
    return kPanels.size() + index;
  }
  std::string title(std::size_t panel) const {
    return panel < kPanels.size() ? kPanels[panel].title : others_[panel - kPanels.size()];
  }
  static double scale(std::size_t panel) {
    return panel < kPanels.size() ? kPanels[panel].scale : 1;
  }

 private:
  bool all_;
  std::vector<std::string> others_;
};

std::string series_name(const Key& key, const std::string& title, bool several_runs) {
  std::string name = title;
  if (key.device != Sample::kWholeMachine) name += " " + std::to_string(key.device);
  if (several_runs) name += " run " + std::to_string(key.workload);
  return name;
}

// Disks and interfaces without any traffic would only take room.
void drop_silent(std::map<Key, Chosen>& series, const std::vector<std::string>& metrics,
                 std::map<std::size_t, std::size_t>& members) {
  std::erase_if(series, [&](const auto& entry) {
    const std::string& metric = metrics[static_cast<std::size_t>(entry.first.metric)];
    const auto points = entry.second.points.points();
    const bool silent = metric.ends_with("_per_s") &&
                        std::all_of(points.begin(), points.end(),
                                    [](const auto& point) { return point.second == 0; });
    if (silent) --members[entry.second.panel];
    return silent;
  });
}

}  // namespace

MinMaxSampler::MinMaxSampler(std::int64_t duration_ns, int buckets)
    : width_ns_(std::max<std::int64_t>(1, duration_ns / buckets + 1)),
      buckets_(static_cast<std::size_t>(buckets)) {}

void MinMaxSampler::add(std::int64_t t_ns, double value) {
  const std::int64_t last = static_cast<std::int64_t>(buckets_.size()) - 1;
  const std::int64_t place = std::clamp<std::int64_t>(t_ns / width_ns_, 0, last);
  Bucket& bucket = buckets_[static_cast<std::size_t>(place)];
  if (!bucket.used) {
    bucket = {t_ns, t_ns, value, value, true};
    return;
  }
  if (value < bucket.min) {
    bucket.min = value;
    bucket.t_min = t_ns;
  }
  if (value > bucket.max) {
    bucket.max = value;
    bucket.t_max = t_ns;
  }
}

std::vector<std::pair<std::int64_t, double>> MinMaxSampler::points() const {
  std::vector<std::pair<std::int64_t, double>> all;
  for (const Bucket& bucket : buckets_) {
    if (!bucket.used) continue;
    const std::pair low{bucket.t_min, bucket.min}, high{bucket.t_max, bucket.max};
    all.push_back(bucket.t_min <= bucket.t_max ? low : high);
    if (low != high) all.push_back(bucket.t_min <= bucket.t_max ? high : low);
  }
  return all;
}

MinMaxSampler::Curve MinMaxSampler::curve(double scale) const {
  Curve curve;
  for (const auto& [t_ns, value] : points()) {
    curve.seconds.push_back(static_cast<double>(t_ns) * 1e-9);
    curve.values.push_back(value * scale);
  }
  return curve;
}

std::string plot_json(const OpenRows& open, const PlotOptions& options) {
  constexpr std::size_t kMostMarks = 200;
  const RowsInfo info = scan(open);
  PanelBook book(options.all_metrics);
  std::map<Key, Chosen> series;
  std::map<std::size_t, std::size_t> members;  // of each panel
  std::vector<Mark> marks;
  bool several_runs = false;
  const RowReaderPtr reader = open();
  std::vector<LogRow> rows;
  while (reader->next(rows)) {
    for (const LogRow& row : rows) {
      const Sample& s = row.sample;
      const std::string& metric = reader->metrics()[static_cast<std::size_t>(s.metric)];
      several_runs |= row.workload_id != 0;
      if (is_mark(metric) && marks.size() < kMostMarks) marks.push_back({s.t_ns, metric.substr(5)});
      const Key key{row.workload_id, s.metric, s.device, s.pid};
      auto at = series.find(key);
      if (at == series.end()) {
        const auto panel = book.panel_of(metric);
        if (!panel || members[*panel] >= options.most_series) continue;
        ++members[*panel];
        at = series.emplace(key, Chosen{*panel, MinMaxSampler(info.last_t_ns, options.buckets)})
                 .first;
      }
      at->second.points.add(s.t_ns, s.value);
    }
  }
  drop_silent(series, reader->metrics(), members);
  Figure figure(options.title);
  figure.x_axis({"seconds"}).shared_hover();
  std::map<std::size_t, std::size_t> row_of;
  for (const auto& [panel, count] : members)
    if (count > 0) row_of[panel] = figure.add_panel(FigureAxis(book.title(panel)).from_zero());
  figure.height(140 + 160 * row_of.size());
  for (const auto& [key, chosen] : series) {
    const auto curve = chosen.points.curve(PanelBook::scale(chosen.panel));
    figure
        .lines(series_name(key, book.title(chosen.panel), several_runs), curve.seconds,
               curve.values)
        .dense()
        .panel(row_of[chosen.panel]);
  }
  for (const Mark& mark : marks) figure.mark(static_cast<double>(mark.t_ns) * 1e-9, mark.name);
  return figure.json();
}

}  // namespace omen::telemetry
