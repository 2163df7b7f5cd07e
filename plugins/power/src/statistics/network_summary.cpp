// SPDX-License-Identifier: Apache-2.0
// Quantiles and mean errors of each network.
#include "statistics/network_summary.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/quantile.hpp>

namespace omen::power {
namespace {

constexpr double kLow = 0.1, kMiddle = 0.5, kHigh = 0.9;

std::vector<double> finite_of(const std::vector<double>& values,
                              const std::vector<std::size_t>& rows) {
  std::vector<double> made;
  for (const std::size_t row : rows)
    if (std::isfinite(values[row])) made.push_back(values[row]);
  return made;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {learn::quantile(values, kLow), learn::quantile(values, kMiddle),
          learn::quantile(values, kHigh)};
}

double mean_error(const std::vector<double>& truth, const std::vector<double>& said,
                  const std::vector<std::size_t>& rows) {
  double sum = 0, count = 0;
  for (const std::size_t row : rows) {
    if (!(truth[row] > 0) || !std::isfinite(said[row])) continue;
    sum += 100 * std::abs(said[row] / truth[row] - 1);
    ++count;
  }
  return count > 0 ? sum / count : NetFacts::kUnknown;
}

}  // namespace

std::vector<NetSummary> summaries_of(const Population& population) {
  std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> groups;
  for (std::size_t row = 0; row < population.rows(); ++row)
    groups[{population.part[row], population.net[row]}].push_back(row);
  std::vector<NetSummary> made;
  for (const auto& [key, rows] : groups) {
    NetSummary one;
    one.part = key.first;
    one.net = key.second;
    one.rows = rows.size();
    for (const auto& [name, values] : population.watts)
      one.watts[name] = spread_of(finite_of(values, rows));
    for (const auto& [name, values] : population.predicted)
      one.error_percent[name] = mean_error(population.watts.at(name), values, rows);
    made.push_back(std::move(one));
  }
  return made;
}

Table network_table(const Population& population, const std::vector<NetSummary>& nets) {
  std::vector<std::string> name, part;
  std::vector<std::int64_t> rows;
  std::vector<double> flops, weights, depth;
  for (const NetSummary& one : nets) {
    const NetFacts& facts = population.nets[one.net];
    name.push_back(facts.name);
    part.push_back(one.part);
    rows.push_back(static_cast<std::int64_t>(one.rows));
    flops.push_back(facts.flops);
    weights.push_back(facts.weights);
    depth.push_back(facts.depth);
  }
  TableBuilder table;
  table.add_strings("net", name).add_strings("part", part).add("rows", std::move(rows));
  const auto put = [&](const std::string& column, std::vector<double> values, const char* unit) {
    std::vector<bool> known;
    for (const double value : values) known.push_back(std::isfinite(value));
    table.add(column, std::move(values), {{"omen.unit", unit}}).valid(known);
  };
  put("flops", flops, "1");
  put("weights", weights, "1");
  put("depth", depth, "1");
  for (const auto& [column, unused] : population.watts) {
    std::vector<double> low, middle, high;
    for (const NetSummary& one : nets) {
      const Spread& spread = one.watts.at(column);
      low.push_back(spread.low);
      middle.push_back(spread.middle);
      high.push_back(spread.high);
    }
    put(column + ".p10", low, "W");
    put(column + ".p50", middle, "W");
    put(column + ".p90", high, "W");
  }
  for (const auto& [column, unused] : population.predicted) {
    std::vector<double> error;
    for (const NetSummary& one : nets) error.push_back(one.error_percent.at(column));
    put(column + ".error_percent", error, "%");
  }
  return table.finish();
}

}  // namespace omen::power
