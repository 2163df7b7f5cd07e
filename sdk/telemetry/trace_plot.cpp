// SPDX-License-Identifier: Apache-2.0
// A figure of series with their phases.
#include "omen/figure.hpp"
#include "omen/telemetry/trace_stats.hpp"

namespace omen::telemetry {
namespace {

constexpr int kBuckets = 1200;
constexpr std::size_t kMostStripes = 400;  // a browser draws more of them only slowly

const char* colour_of(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kStartUp:
    case PhaseKind::kTearDown:
      return "rgba(200, 150, 40, 0.25)";
    case PhaseKind::kIdle:
      return "rgba(200, 60, 60, 0.25)";
    case PhaseKind::kBurst:
      break;
  }
  return "rgba(60, 140, 80, 0.12)";
}

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

struct TracePanel {
  std::int64_t workload = 0;
  const SeriesPhases* series = nullptr;
  MinMaxSampler points;
};

std::string name_of(const TracePanel& panel, bool several_runs) {
  std::string name = panel.series->metric;
  if (panel.series->device != Sample::kWholeMachine)
    name += " " + std::to_string(panel.series->device);
  if (several_runs) name += " run " + std::to_string(panel.workload);
  return name;
}

void add_stripes(Figure& figure, const SeriesPhases& series, std::size_t row) {
  for (const Phase& phase : series.phases.phases) {
    if (figure.stripes() >= kMostStripes) return;
    figure.stripe(seconds(phase.begin_ns), seconds(phase.end_ns), colour_of(phase.kind), row);
  }
}

}  // namespace

std::string phases_plot_json(const OpenRows& open, const TraceStats& stats,
                             const std::string& title) {
  const RowsInfo info = scan(open);
  std::vector<TracePanel> panels;
  for (const WorkloadStats& workload : stats.workloads)
    for (const SeriesPhases& series : workload.series)
      panels.push_back({workload.workload_id, &series, MinMaxSampler(info.last_t_ns, kBuckets)});
  const RowReaderPtr reader = open();
  std::vector<LogRow> rows;
  while (reader->next(rows))
    for (const LogRow& row : rows) {
      const Sample& s = row.sample;
      const std::string& metric = reader->metrics()[static_cast<std::size_t>(s.metric)];
      for (TracePanel& panel : panels)
        if (panel.workload == row.workload_id && panel.series->device == s.device &&
            panel.series->pid == s.pid && panel.series->metric == metric)
          panel.points.add(s.t_ns, s.value);
    }
  Figure figure(title);
  figure.x_axis({"seconds"}).height(140 + 180 * panels.size()).without_legend();
  for (const TracePanel& panel : panels) {
    const std::string name = name_of(panel, stats.workloads.size() > 1);
    const std::size_t row = figure.add_panel(FigureAxis(name).from_zero());
    const auto curve = panel.points.curve();
    figure.lines(name, curve.seconds, curve.values).dense().panel(row);
    add_stripes(figure, *panel.series, row);
  }
  return figure.json();
}

}  // namespace omen::telemetry
