// SPDX-License-Identifier: Apache-2.0
// A Plotly figure of series with their phases.
#include <nlohmann/json.hpp>

#include "omen/telemetry/trace_stats.hpp"

namespace omen::telemetry {
namespace {

using Json = nlohmann::ordered_json;

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

std::string axis(const char* letter, std::size_t row) {
  return row == 0 ? letter : letter + std::to_string(row + 1);
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

Json stripes_of(const std::vector<TracePanel>& panels) {
  Json shapes = Json::array();
  for (std::size_t row = 0; row < panels.size(); ++row)
    for (const Phase& phase : panels[row].series->phases.phases) {
      if (shapes.size() >= kMostStripes) return shapes;
      shapes.push_back(Json{{"type", "rect"},
                            {"xref", "x"},
                            {"yref", axis("y", row) + " domain"},
                            {"x0", seconds(phase.begin_ns)},
                            {"x1", seconds(phase.end_ns)},
                            {"y0", 0},
                            {"y1", 1},
                            {"fillcolor", colour_of(phase.kind)},
                            {"line", {{"width", 0}}},
                            {"layer", "below"}});
    }
  return shapes;
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
  Json layout{{"title", {{"text", title}}},
              {"height", 140 + 180 * panels.size()},
              {"showlegend", false},
              {"xaxis", {{"title", {{"text", "seconds"}}}, {"anchor", "free"}, {"position", 0}}}};
  Json data = Json::array();
  const double share = panels.empty() ? 1 : 1.0 / static_cast<double>(panels.size());
  for (std::size_t row = 0; row < panels.size(); ++row) {
    Json x = Json::array(), y = Json::array();
    for (const auto& [t_ns, value] : panels[row].points.points()) {
      x.push_back(seconds(t_ns));
      y.push_back(value);
    }
    const std::string name = name_of(panels[row], stats.workloads.size() > 1);
    data.push_back(Json{{"type", "scattergl"},
                        {"mode", "lines"},
                        {"name", name},
                        {"x", std::move(x)},
                        {"y", std::move(y)},
                        {"xaxis", "x"},
                        {"yaxis", axis("y", row)}});
    const double top = 1 - static_cast<double>(row) * share;
    layout[row == 0 ? "yaxis" : "yaxis" + std::to_string(row + 1)] =
        Json{{"title", {{"text", name}}},
             {"rangemode", "tozero"},
             {"domain", {top - share * 0.85, top}}};
  }
  layout["shapes"] = stripes_of(panels);
  return Json{{"data", std::move(data)}, {"layout", std::move(layout)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace omen::telemetry
