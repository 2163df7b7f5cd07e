// SPDX-License-Identifier: Apache-2.0
// A row for each model, a bar for each time it trains.
#include "plan/gantt.hpp"

#include <algorithm>
#include <omen/figure.hpp>
#include <set>

namespace omen::ensemble {
namespace {

// More rows than a page can show are left out of the chart, not of its table.
constexpr std::size_t kMostRows = 200;
constexpr std::size_t kRowPixels = 16, kFramePixels = 160;

std::vector<Span> by_begin(const Schedule& schedule) {
  std::vector<Span> spans = schedule.spans;
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::pair(a.begin, a.model) < std::pair(b.begin, b.model);
  });
  return spans;
}

}  // namespace

Table span_table(const Schedule& schedule, const std::vector<std::string>& names) {
  std::vector<std::string> model;
  std::vector<std::int64_t> accelerators;
  std::vector<double> begin, end;
  for (const Span& span : by_begin(schedule)) {
    model.push_back(names[span.model]);
    accelerators.push_back(span.accelerators);
    begin.push_back(span.begin);
    end.push_back(span.end);
  }
  const Metadata seconds = {{"omen.unit", "s"}};
  return TableBuilder()
      .add_strings("model", model)
      .add("accelerators", std::move(accelerators))
      .add("begin_s", std::move(begin), seconds)
      .add("end_s", std::move(end), seconds)
      .finish();
}

void put_gantt(const Run& run, const std::string& file, const std::string& title,
               const Schedule& schedule, const std::vector<std::string>& names) {
  if (run.output_dir().empty()) return;
  std::vector<FigureSpan> bars;
  std::set<std::size_t> rows;
  for (const Span& span : by_begin(schedule)) {
    if (rows.count(span.model) == 0 && rows.size() == kMostRows) continue;
    rows.insert(span.model);
    bars.push_back({names[span.model], span.begin, span.end, std::to_string(span.accelerators)});
  }
  Figure figure(title);
  figure.x_axis(FigureAxis("time", "s").from_zero()).y_axis(FigureAxis("model"));
  figure.height(kFramePixels + kRowPixels * rows.size()).without_legend();
  figure.gantt("accelerators", bars);
  put_figure(run, file, figure.json(), span_table(schedule, names));
}

}  // namespace omen::ensemble
