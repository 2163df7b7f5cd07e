// SPDX-License-Identifier: Apache-2.0
// Columns are found by their names, wherever they stand.
#include "statistics/population.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <omen/csv_line.hpp>
#include <omen/dataset.hpp>
#include <omen/join.hpp>
#include <omen/optional_columns.hpp>
#include <set>

#include "hardware/hardware_columns.hpp"
#include "nets/net_tables.hpp"

namespace omen::power {
namespace {

constexpr std::array kWattColumns = {"p_core_w", "p_bw_w", "power_w", "avg_power_w"};
constexpr std::array kNameColumns = {"name", "net", "network", "model", "group"};
constexpr std::array kPartColumns = {"part", "split"};
constexpr std::array kChoiceColumns = {"dataflow", "dram"};
constexpr double kNothing = NetFacts::kUnknown;

template <class Names>
std::string first_text_column(const Table& table, const Names& names) {
  for (const char* name : names)
    if (const auto at = table.find(name); at && is_text(table.type(*at))) return name;
  return {};
}

std::vector<double> numbers_or(const Table& table, const char* name) {
  const auto at = table.find(name);
  return at && is_number(table.type(*at)) ? table.numbers(*at) : std::vector<double>();
}

// The layers of each network say what it costs by itself.
std::map<std::int64_t, NetFacts> facts_of_graphs(const NamedTables& tables) {
  std::map<std::int64_t, NetFacts> facts;
  const auto nodes = tables.find("nodes");
  if (nodes == tables.end() || !nodes->second.has("cin")) return facts;
  MemoryDataset graphs;
  graphs.put("nodes", nodes->second);
  for (const auto& [id, read] : read_net_tables(graphs.view())) {
    if (!read.fault.empty()) continue;
    const NetTotals totals = totals_of(read.net);
    NetFacts& one = facts[id];
    one.flops = totals.flops();
    one.weights = totals.weights;
    one.depth = static_cast<double>(
        std::count_if(read.net.layers.begin(), read.net.layers.end(),
                      [](const Primitive& layer) { return has_macs(layer.type); }));
  }
  return facts;
}

void read_nets_of_rows(const NamedTables& tables, Population& made) {
  const Table& workloads = tables.at("workloads");
  const auto rows = static_cast<std::size_t>(workloads.rows());
  const std::map<std::int64_t, NetFacts> graphs = facts_of_graphs(tables);
  const std::vector<double> graph = numbers_or(workloads, "graph_id"),
                            flops = numbers_or(workloads, "flops"),
                            weights = numbers_or(workloads, "weights"),
                            depth = numbers_or(workloads, "depth");
  const std::string named = first_text_column(workloads, kNameColumns);
  if (graph.empty() && named.empty())
    throw Error(OMEN_INVALID_DATA, "no column names the networks",
                "Give one of " + join(kNameColumns) + ", or graph_id.");
  const TextColumn names(workloads, named.c_str());
  const std::string part = first_text_column(workloads, kPartColumns);
  const TextColumn parts(workloads, part.c_str());
  std::map<std::pair<std::int64_t, std::string>, std::size_t> place;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto at = static_cast<std::int64_t>(row);
    const std::int64_t id = graph.empty() ? -1 : static_cast<std::int64_t>(graph[row]);
    const std::string name = named.empty() ? "net " + std::to_string(id) : names.at(at);
    const auto [found, fresh] = place.emplace(std::pair(id, name), made.nets.size());
    if (fresh) {
      const auto known = graphs.find(id);
      NetFacts facts = known == graphs.end() ? NetFacts{} : known->second;
      facts.name = name;
      if (!flops.empty()) facts.flops = flops[row];
      if (!weights.empty()) facts.weights = weights[row];
      if (!depth.empty()) facts.depth = depth[row];
      made.nets.push_back(facts);
    }
    made.net.push_back(found->second);
    const std::string said = part.empty() ? std::string() : parts.at(at);
    made.part.push_back(said.empty() ? "all" : said);
  }
}

bool varies(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](double value) { return value != values.front(); });
}

void read_parameters(const Table& workloads, Population& made) {
  const auto take = [&](const std::string& name, std::vector<double> values) {
    const bool whole =
        std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    if (whole && !values.empty() && varies(values))
      made.parameters.push_back({name, std::move(values)});
  };
  for (const HardwareColumn& column : kHardwareColumns)
    take(column.name, numbers_or(workloads, column.name));
  for (const char* name : kChoiceColumns) {
    const auto at = workloads.find(name);
    if (!at || !is_text(workloads.type(*at))) continue;
    const StringColumn words = workloads.strings(*at);
    std::set<std::string> distinct;
    for (std::int64_t row = 0; row < words.size(); ++row) distinct.emplace(words[row]);
    for (const std::string& word : distinct) {
      std::vector<double> is(static_cast<std::size_t>(words.size()));
      for (std::int64_t row = 0; row < words.size(); ++row)
        is[static_cast<std::size_t>(row)] = words[row] == word ? 1 : 0;
      take(std::string(name) + "=" + word, std::move(is));
    }
  }
}

// Values of a column in the order of the workloads.
std::vector<double> aligned(const Table& workloads, const Table& other, const char* column) {
  const std::vector<double> values = numbers_or(other, column);
  const std::vector<double> mine = numbers_or(workloads, "workload_id"),
                            theirs = numbers_or(other, "workload_id");
  const auto rows = static_cast<std::size_t>(workloads.rows());
  std::vector<double> made(rows, kNothing);
  if (values.empty()) return made;
  if (mine.empty() || theirs.empty()) {
    std::copy_n(values.begin(), std::min(rows, values.size()), made.begin());
    return made;
  }
  std::map<double, double> by_id;
  for (std::size_t i = 0; i < theirs.size(); ++i) by_id[theirs[i]] = values[i];
  for (std::size_t i = 0; i < rows; ++i)
    if (const auto found = by_id.find(mine[i]); found != by_id.end()) made[i] = found->second;
  return made;
}

}  // namespace

Table parse_csv(const std::string& text, const std::string& source) {
  std::vector<std::vector<std::string>> columns;
  std::vector<std::string> names;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \r") == std::string::npos) continue;
    std::vector<std::string> fields = csv_cells(line);
    if (names.empty()) {
      names = std::move(fields);
      columns.resize(names.size());
      continue;
    }
    if (fields.size() != names.size())
      throw Error(OMEN_INVALID_DATA,
                  source + ":" + std::to_string(number + 1) + ": " + std::to_string(fields.size()) +
                      " fields under " + std::to_string(names.size()) + " names",
                  "Write one field for each column of the first line.");
    for (std::size_t i = 0; i < fields.size(); ++i) columns[i].push_back(std::move(fields[i]));
  }
  TableBuilder table;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<double> values;
    for (const std::string& field : columns[i]) {
      char* rest = nullptr;
      const double value = field.empty() ? kNothing : std::strtod(field.c_str(), &rest);
      if (!field.empty() && *rest != '\0') break;
      values.push_back(value);
    }
    if (values.size() == columns[i].size())
      table.add(names[i], std::move(values));
    else
      table.add_strings(names[i], columns[i]);
  }
  return table.finish();
}

Population population_of(const NamedTables& tables) {
  if (!tables.count("workloads") || tables.at("workloads").rows() == 0)
    throw Error(OMEN_INVALID_DATA, "there are no rows",
                "Give a dataset with workloads, such as one of omen data make.");
  const Table& workloads = tables.at("workloads");
  Population made;
  for (const char* name : kWattColumns) {
    const auto targets = tables.find("targets");
    const bool apart = targets != tables.end() && targets->second.has(name);
    if (!apart && !workloads.has(name)) continue;
    made.watts[name] = aligned(workloads, apart ? targets->second : workloads, name);
  }
  if (made.watts.empty())
    throw Error(OMEN_INVALID_DATA, "no column of watts is there",
                "Give one of " + join(kWattColumns) + ".");
  read_nets_of_rows(tables, made);
  read_parameters(workloads, made);
  return made;
}

void add_predictions(Population& population, const NamedTables& asked, const Table& predicted) {
  for (const auto& [name, values] : population.watts)
    if (predicted.has(name))
      population.predicted[name] = aligned(asked.at("workloads"), predicted, name.c_str());
  if (population.predicted.empty())
    throw Error(OMEN_INVALID_DATA, "the predictions have none of the columns of watts of the rows",
                "Predict what the rows hold, such as p_core_w and p_bw_w.");
}

}  // namespace omen::power
