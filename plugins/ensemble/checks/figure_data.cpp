// SPDX-License-Identifier: Apache-2.0
// Reads the digitised figures.
#include "figure_data.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "omen/testing/csv_table.hpp"

namespace omen::ensemble::checks {
namespace {

constexpr double kImages = 30606;  // of Caltech-256

// Rates on 1..8 accelerators over the rate on one, by that rate.
using Efficiency = std::map<double, std::vector<double>>;

Efficiency read_efficiency(const std::string& directory) {
  Efficiency curves;
  for (const Row& row : read_csv(directory + "/fleet_fig9_rate_vs_gpus.csv")) {
    std::vector<double> over;
    for (int m = 1; m <= 8; ++m)
      over.push_back(number(row, "m" + std::to_string(m)) / number(row, "m1"));
    curves[number(row, "m1")] = over;
  }
  return curves;
}

// Between the two neighbouring curves; the first and the last one go on outside.
std::vector<double> scaled_rates(const Efficiency& curves, double rate) {
  auto above = curves.lower_bound(rate);
  if (above == curves.end()) above = std::prev(above);
  const auto below = above == curves.begin() || rate >= above->first ? above : std::prev(above);
  const double width = above->first - below->first;
  const double share = width > 0 ? std::clamp((rate - below->first) / width, 0.0, 1.0) : 0;
  std::vector<double> rates;
  for (std::size_t i = 0; i < below->second.size(); ++i)
    rates.push_back(rate * (below->second[i] + share * (above->second[i] - below->second[i])));
  return rates;
}

}  // namespace

std::optional<std::string> data_directory() {
  const char* root = std::getenv("OMEN_DATA");
  if (!root || !std::filesystem::exists(std::filesystem::path(root) / "ensemble")) return {};
  return (std::filesystem::path(root) / "ensemble").string();
}

std::vector<Row> read_csv(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto fields = test::csv_fields(text);
  std::vector<Row> rows;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    Row row;
    for (std::size_t c = 0; c < fields[0].size(); ++c)
      row[fields[0][c]] = c < fields[i].size() ? fields[i][c] : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

double number(const Row& row, const std::string& column) {
  return std::stod(row.at(column));
}

std::vector<PeakPoint> peak_points(const std::string& directory) {
  std::vector<PeakPoint> points;
  std::map<std::string, std::int32_t> curves;
  for (const Row& row : read_csv(directory + "/sc18_fig8_peak.csv")) {
    PeakPoint point;
    point.pipeline = row.at("pipeline");
    point.curve = point.pipeline + " " + row.at("cores_per_node");
    const auto named = parse_design(point.pipeline);
    Setting& setting = point.measured.setting;
    setting.design = named.value().design;
    setting.ranks = number(row, "n_nodes");
    setting.preprocessors = named->preprocessors.value_or(setting.ranks);
    setting.cores = number(row, "cores_per_node");
    setting.coupled = true;
    point.measured.group =
        curves.emplace(point.curve, static_cast<std::int32_t>(curves.size())).first->second;
    point.measured.rate = number(row, "peak_images_per_sec");
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<Measured> points_where(const std::vector<PeakPoint>& points,
                                   const std::function<bool(const PeakPoint&)>& wanted) {
  std::vector<Measured> rows;
  for (const PeakPoint& point : points)
    if (wanted(point)) rows.push_back(point.measured);
  return rows;
}

std::vector<PlannedModel> fleet_networks(const std::string& directory, double kappa) {
  const Efficiency curves = read_efficiency(directory);
  std::vector<PlannedModel> models;
  for (const Row& row : read_csv(directory + "/fleet_fig8_dnns.csv"))
    models.push_back({RateCurve(scaled_rates(curves, number(row, "images_per_sec_1gpu"))),
                      kappa * kImages * number(row, "epochs_to_converge")});
  return models;
}

std::vector<FleetTotals> fleet_totals(const std::string& directory) {
  std::vector<FleetTotals> totals;
  for (const Row& row : read_csv(directory + "/fleet_fig5_fig6_table4.csv")) {
    const double fleet_g = number(row, "fleet_g_total_s");
    const double one_each = fleet_g * number(row, "speedup_fleet_g");
    totals.push_back({static_cast<std::int64_t>(number(row, "n_gpus")),
                      one_each / number(row, "speedup_homogeneous"), fleet_g,
                      one_each / number(row, "speedup_fleet_l")});
  }
  return totals;
}

}  // namespace omen::ensemble::checks
