// SPDX-License-Identifier: Apache-2.0
// Reads the rows, draws what they hold, and adds the errors of a model where one is given.
#include "statistics/statistics_command.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <omen/figure.hpp>
#include <omen/host.hpp>
#include <omen/learn/quantile.hpp>

#include "nets/text_file.hpp"
#include "statistics/hardware_structure.hpp"
#include "statistics/network_summary.hpp"
#include "statistics/report_page.hpp"

namespace omen::power {
namespace {

constexpr int kBins = 30;
constexpr std::size_t kMostPoints = 4000;  // of one series; more cannot be told apart
constexpr std::size_t kMostNamed = 40;     // networks that fit as labels below a figure
constexpr learn::Index kShownComponents = 3;

std::string short_text(double value, const char* format = "%.3g") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

NamedTables read_rows(const std::string& input, const Run& run) {
  if (std::filesystem::path(input).extension() == ".csv")
    return {{"workloads", parse_csv(read_text_file(input), file_name(input))}};
  NamedTables tables = read_own_tables(input);
  if (!tables.empty()) return tables;
  // A collection of nets_*.json, train_*.txt and val_*.txt, or whatever a front end recognises.
  return call::lower(run, nullptr, input);
}

// Everything but what the rows were measured at.
Table asked_predictor(const StatisticsOptions& options, const NamedTables& tables, const Run& run) {
  MemoryDataset asked;
  for (const auto& [name, table] : tables)
    if (name != "targets") asked.put(name.c_str(), table);
  return call::predict(run, options.predictor.c_str(), asked.view(), {}, options.model).read_all();
}

Figure histogram(const Population& population) {
  double low = INFINITY, high = 0;
  for (const auto& [name, values] : population.watts)
    for (const double value : values)
      if (value > 0) low = std::min(low, value), high = std::max(high, value);
  Figure figure;
  figure.x_axis(FigureAxis("power", "W").logarithmic()).y_axis(FigureAxis("rows").from_zero());
  if (!(high > 0)) return figure;
  const double width = std::max(1e-9, std::log(high / low) / kBins);
  for (const auto& [name, values] : population.watts) {
    std::vector<double> count(kBins, 0), x, y;
    for (const double value : values) {
      if (!(value > 0)) continue;
      const auto bin =
          static_cast<std::size_t>(std::min(kBins - 1.0, std::log(value / low) / width));
      ++count[bin];
    }
    // Steps: each bin from its lower to its upper edge.
    for (int bin = 0; bin < kBins; ++bin)
      for (const int edge : {bin, bin + 1}) {
        x.push_back(low * std::exp(width * edge));
        y.push_back(count[static_cast<std::size_t>(bin)]);
      }
    figure.lines(name, x, y);
  }
  return figure;
}

Figure component_plane(const HardwareStructure& structure) {
  Figure figure;
  const auto axis = [&](learn::Index which) {
    return FigureAxis("component " + std::to_string(which + 1) + " (" +
                      short_text(100 * structure.pca.share()[which], "%.0f") + " % of variance)");
  };
  figure.x_axis(axis(0)).y_axis(axis(1));
  const learn::Index clusters = structure.clusters.centres.rows();
  const std::size_t step = 1 + structure.rows.size() / kMostPoints;
  for (learn::Index c = 0; c < clusters; ++c) {
    std::vector<double> x, y;
    for (std::size_t i = 0; i < structure.rows.size(); i += step)
      if (structure.clusters.of_row[i] == c) {
        x.push_back(structure.places(static_cast<learn::Index>(i), 0));
        y.push_back(structure.places(static_cast<learn::Index>(i), 1));
      }
    figure.markers("cluster " + std::to_string(c + 1), x, y).marker_size(4);
  }
  const learn::Matrix centres = structure.pca.transform(structure.clusters.centres);
  std::vector<double> x, y;
  for (learn::Index c = 0; c < clusters; ++c)
    x.push_back(centres(c, 0)), y.push_back(centres(c, 1));
  figure.markers("centres", x, y).marker_size(12).colour("#888888");
  return figure;
}

learn::Index shown_components(const HardwareStructure& structure) {
  return std::min(kShownComponents, structure.pca.components().rows());
}

Figure loadings(const HardwareStructure& structure) {
  Figure figure;
  figure.x_axis(FigureAxis("parameter")).y_axis(FigureAxis("part in the component").from_zero());
  for (learn::Index c = 0; c < shown_components(structure); ++c) {
    std::vector<double> values;
    for (std::size_t p = 0; p < structure.names.size(); ++p)
      values.push_back(structure.pca.components()(c, static_cast<learn::Index>(p)));
    figure.bars("component " + std::to_string(c + 1), structure.names, values);
  }
  return figure;
}

// Networks in the order of their medians, those of each part apart.
Figure watts_by_network(const Population& population, const std::vector<NetSummary>& nets,
                        const std::string& column) {
  Figure figure;
  const bool named = nets.size() <= kMostNamed;
  figure.x_axis(FigureAxis(named ? "network" : "networks in the order of their median"))
      .y_axis(FigureAxis(column + ", median with 10 to 90 %", "W").logarithmic());
  std::map<std::string, std::vector<const NetSummary*>> parts;
  for (const NetSummary& one : nets)
    if (one.watts.at(column).middle > 0) parts[one.part].push_back(&one);
  for (auto& [part, list] : parts) {
    std::sort(list.begin(), list.end(), [&](const NetSummary* a, const NetSummary* b) {
      return a->watts.at(column).middle < b->watts.at(column).middle;
    });
    std::vector<double> place, middle, below, above;
    std::vector<std::string> names;
    for (const NetSummary* one : list) {
      const Spread& spread = one->watts.at(column);
      place.push_back(static_cast<double>(place.size()) / static_cast<double>(list.size()));
      names.push_back(population.nets[one->net].name);
      middle.push_back(spread.middle);
      below.push_back(spread.middle - spread.low);
      above.push_back(spread.high - spread.middle);
    }
    FigureSeries& series = named ? figure.bars(part, names, middle)
                                 : figure.markers(part, place, middle).marker_size(4);
    if (named) series.error_y(below, above);
  }
  return figure;
}

Figure errors_against(const Population& population, const std::vector<NetSummary>& nets,
                      const std::string& title, double NetFacts::*fact) {
  Figure figure;
  figure.x_axis(FigureAxis(title).logarithmic())
      .y_axis(FigureAxis("mean error of a network", "%").from_zero());
  for (const auto& [column, unused] : population.predicted) {
    std::vector<double> x, y;
    for (const NetSummary& one : nets) {
      const double value = population.nets[one.net].*fact, error = one.error_percent.at(column);
      if (!(value > 0) || !std::isfinite(error)) continue;
      x.push_back(value);
      y.push_back(error);
    }
    if (!x.empty()) figure.markers(column, x, y).marker_size(5);
  }
  return figure;
}

Figure errors_by_network(const Population& population, const std::vector<NetSummary>& nets) {
  Figure figure;
  figure.x_axis(FigureAxis("part of the networks", "%"))
      .y_axis(FigureAxis("mean error of a network is at most", "%").from_zero());
  for (const auto& [column, unused] : population.predicted) {
    std::map<std::string, std::vector<double>> parts;
    for (const NetSummary& one : nets)
      if (std::isfinite(one.error_percent.at(column)))
        parts[one.part].push_back(one.error_percent.at(column));
    for (auto& [part, errors] : parts) {
      std::sort(errors.begin(), errors.end());
      std::vector<double> x;
      for (std::size_t i = 0; i < errors.size(); ++i)
        x.push_back(100 * static_cast<double>(i + 1) / static_cast<double>(errors.size()));
      figure.lines(column + ", " + part, x, errors);
    }
  }
  return figure;
}

Table cluster_table(const HardwareStructure& structure) {
  const learn::Index clusters = structure.clusters.centres.rows();
  std::vector<std::int64_t> number, rows(static_cast<std::size_t>(clusters), 0);
  for (const learn::Index c : structure.clusters.of_row) ++rows[static_cast<std::size_t>(c)];
  for (learn::Index c = 0; c < clusters; ++c) number.push_back(c + 1);
  TableBuilder table;
  table.add("cluster", std::move(number)).add("rows", std::move(rows));
  for (std::size_t p = 0; p < structure.names.size(); ++p) {
    std::vector<double> values;
    for (learn::Index c = 0; c < clusters; ++c)
      values.push_back(structure.centres(c, static_cast<learn::Index>(p)));
    table.add(structure.names[p], std::move(values));
  }
  return table.finish();
}

Table component_table(const HardwareStructure& structure) {
  std::vector<std::int64_t> number;
  std::vector<double> share;
  const learn::Index count = structure.pca.components().rows();
  for (learn::Index c = 0; c < count; ++c) {
    number.push_back(c + 1);
    share.push_back(structure.pca.share()[c]);
  }
  TableBuilder table;
  table.add("component", std::move(number)).add("share", std::move(share));
  for (std::size_t p = 0; p < structure.names.size(); ++p) {
    std::vector<double> values;
    for (learn::Index c = 0; c < count; ++c)
      values.push_back(structure.pca.components()(c, static_cast<learn::Index>(p)));
    table.add(structure.names[p], std::move(values));
  }
  return table.finish();
}

// Rows, networks and the usual watts of each part, with mean errors over networks.
Table part_table(const Population& population, const std::vector<NetSummary>& nets) {
  std::map<std::string, std::vector<const NetSummary*>> parts;
  for (const NetSummary& one : nets) parts[one.part].push_back(&one);
  std::vector<std::string> part;
  std::vector<std::int64_t> networks, rows;
  std::map<std::string, std::vector<double>> columns;
  for (const auto& [name, list] : parts) {
    part.push_back(name);
    networks.push_back(static_cast<std::int64_t>(list.size()));
    std::int64_t all = 0;
    for (const NetSummary* one : list) all += static_cast<std::int64_t>(one->rows);
    rows.push_back(all);
    for (const auto& [column, unused] : population.watts) {
      std::vector<double> middles;
      for (const NetSummary* one : list)
        if (std::isfinite(one->watts.at(column).middle))
          middles.push_back(one->watts.at(column).middle);
      std::sort(middles.begin(), middles.end());
      columns[column].push_back(middles.empty() ? NetFacts::kUnknown
                                                : learn::quantile(middles, 0.5));
    }
    for (const auto& [column, unused] : population.predicted) {
      double sum = 0, count = 0;
      for (const NetSummary* one : list)
        if (std::isfinite(one->error_percent.at(column)))
          sum += one->error_percent.at(column), ++count;
      columns[column + ".error_percent"].push_back(count > 0 ? sum / count : NetFacts::kUnknown);
    }
  }
  TableBuilder table;
  table.add_strings("part", part).add("networks", std::move(networks)).add("rows", std::move(rows));
  for (auto& [name, values] : columns) {
    std::vector<bool> known;
    for (const double value : values) known.push_back(std::isfinite(value));
    table.add(name, std::move(values)).valid(known);
  }
  return table.finish();
}

void draw_statistics(const Run& run, const std::string& title, const Population& population,
                     const std::vector<NetSummary>& nets, const HardwareStructure& structure) {
  ReportPage page(title);
  page.add("Power", histogram(population));
  for (const auto& [column, unused] : population.watts)
    page.add(column + " by network", watts_by_network(population, nets, column));
  if (!structure.names.empty()) {
    page.add("Accelerators along two components", component_plane(structure));
    page.add("What the components are made of", loadings(structure));
  }
  if (!population.predicted.empty()) {
    page.add("Errors of the networks, the best first", errors_by_network(population, nets));
    page.add("Error against FLOPs", errors_against(population, nets, "FLOPs", &NetFacts::flops));
    page.add("Error against weights",
             errors_against(population, nets, "weights", &NetFacts::weights));
    page.add("Error against depth",
             errors_against(population, nets, "layers that multiply", &NetFacts::depth));
  }
  put_figure(run, "statistics", page.json(), network_table(population, nets));
  if (structure.names.empty()) return;
  put_figure(run, "clusters", component_plane(structure).json(), cluster_table(structure));
  put_figure(run, "components", loadings(structure).json(), component_table(structure));
}

}  // namespace

int StatisticsCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                           const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "statistics needs one dataset or table",
                "Use: omen power statistics DATASET -o DIR.");
  run.step(-1, "read");
  const NamedTables tables = read_rows(args[0], run);
  Population population = population_of(tables);
  if (!options_.predictions.empty())
    add_predictions(
        population, tables,
        parse_csv(read_text_file(options_.predictions), file_name(options_.predictions)));
  else if (!options_.predictor.empty())
    add_predictions(population, tables, asked_predictor(options_, tables, run));
  else if (!options_.model.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "--model says which file, and --predictor of what",
                "Add --predictor power.seq.");
  run.step(-1, "statistics");
  const std::vector<NetSummary> nets = summaries_of(population);
  const HardwareStructure structure = hardware_structure(population, options_.clusters, run.seed());
  draw_statistics(run, file_name(args[0]), population, nets, structure);
  out.put("parts", part_table(population, nets));
  if (!structure.names.empty()) out.put("clusters", cluster_table(structure));
  return 0;
}

Component statistics_component() {
  return command<StatisticsCommand, StatisticsOptions>(
      "power.statistics",
      "one page about a collection: power by network, accelerators, errors of a model");
}

}  // namespace omen::power
