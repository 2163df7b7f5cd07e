// SPDX-License-Identifier: Apache-2.0
// Collects metrics and draws them, a panel for each.
#include "cli/metric_log.hpp"

#include <map>

#include "cli/session.hpp"
#include "omen/figure.hpp"
#include "report/figure.hpp"
#include "report/page_parts.hpp"

namespace omen::host::cli {

void MetricLog::add(const char* name, std::int64_t step, double value) {
  const std::lock_guard lock(mutex_);
  metrics_.push_back({name ? name : "", step, value});
}

void MetricLog::write(const std::filesystem::path& directory) const {
  const std::lock_guard lock(mutex_);
  if (metrics_.empty()) return;
  struct Curve {
    std::vector<double> steps, values;
  };
  std::map<std::string, Curve> curves;
  std::vector<std::string> names;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  for (const Metric& metric : metrics_) {
    names.push_back(metric.name);
    steps.push_back(metric.step);
    values.push_back(metric.value);
    curves[metric.name].steps.push_back(static_cast<double>(metric.step));
    curves[metric.name].values.push_back(metric.value);
  }
  Figure figure("metrics");
  figure.x_axis({"step"}).shared_hover();
  for (const auto& [name, curve] : curves) {
    const std::size_t panel = figure.add_panel({name});
    FigureSeries& series = curve.steps.size() > 1 ? figure.lines(name, curve.steps, curve.values)
                                                  : figure.markers(name, curve.steps, curve.values);
    series.panel(panel);
  }
  TableBuilder table;
  table.add_categories("metric", names)
      .add("step", std::move(steps))
      .add("value", std::move(values));
  if (chart_library_or_nothing().empty())  // the numbers stay where charts were left out
    write_rows(directory / "metrics.csv", "metrics", table.finish());
  else
    write_figure(directory, "metrics", figure.json(), table.finish());
}

}  // namespace omen::host::cli
