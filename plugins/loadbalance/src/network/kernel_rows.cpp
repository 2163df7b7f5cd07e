// SPDX-License-Identifier: Apache-2.0
// Reading the tables of a dataset for the networks.
#include "network/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> scalar(const Table& workloads, const char* name) {
  if (!workloads.has(name))
    throw Error(OMEN_INVALID_DATA, std::string("workloads have no column ") + name,
                "Give --wgsize and --input-size, or add both columns to the data.");
  return workloads.numbers(name);
}

using RowOf = std::unordered_map<std::int64_t, std::size_t>;

RowOf rows_by_id(const std::vector<std::int64_t>& workload_id) {
  RowOf rows;
  for (std::size_t row = 0; row < workload_id.size(); ++row) rows.emplace(workload_id[row], row);
  return rows;
}

// Classes in the order of their names where these are numbers, else of the text.
std::vector<std::string> classes_of(const StringColumn& column) {
  std::set<std::string> seen;
  for (std::int64_t row = 0; row < column.size(); ++row)
    if (!column.is_null(row)) seen.emplace(column[row]);
  std::vector<std::string> names(seen.begin(), seen.end());
  const bool numbers = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return !name.empty() && name.find_first_not_of("0123456789.") == std::string::npos;
  });
  if (numbers)
    std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return std::stod(a) < std::stod(b);
    });
  return names;
}

void fill(TargetColumn& target, const Table& table, std::size_t column, const RowOf& rows) {
  const Column<std::int64_t> id = table.column<std::int64_t>("workload_id");
  const bool is_class = is_text(table.type(column));
  const std::vector<double> numbers = is_class ? std::vector<double>() : table.numbers(column);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const auto at = rows.find(id[row]);
    if (at == rows.end() || table.is_null(column, row)) continue;
    double& value = target.value[at->second];
    if (!is_class) {
      value = numbers[static_cast<std::size_t>(row)];
      continue;
    }
    const auto known =
        std::find(target.classes.begin(), target.classes.end(), table.strings(column)[row]);
    if (known != target.classes.end()) value = static_cast<double>(known - target.classes.begin());
  }
}

}  // namespace

bool KernelRows::known(std::size_t row) const {
  return graph[row] && std::isfinite(wgsize[row]) && std::isfinite(input_size[row]);
}

KernelRows read_kernel_rows(const Dataset& data, const Vocabulary& words) {
  KernelRows rows;
  const Table workloads = data.table("workloads");
  rows.graphs = read_token_graphs(data.table("nodes"),
                                  data.has("edges") ? data.table("edges") : Table(), words);
  const Column<std::int64_t> id = workloads.column<std::int64_t>("workload_id");
  rows.workload_id.assign(id.begin(), id.end());
  const std::vector<double> graph =
      workloads.has("graph_id") ? workloads.numbers("graph_id") : workloads.numbers("workload_id");
  for (const double graph_id : graph)
    rows.graph.push_back(
        std::isfinite(graph_id) ? rows.graphs.find(static_cast<std::int64_t>(graph_id)) : nullptr);
  rows.wgsize = scalar(workloads, "wgsize");
  rows.input_size = scalar(workloads, "input_size");
  if (workloads.has("compiled") && is_text(workloads.type(workloads.index("compiled")))) {
    const StringColumn compiled = workloads.strings("compiled");
    for (std::int64_t row = 0; row < compiled.size(); ++row)
      if (!compiled.is_null(row)) rows.compiled.emplace(compiled[row]);
  }
  return rows;
}

std::vector<TargetColumn> read_targets(const Dataset& data,
                                       const std::vector<std::int64_t>& workload_id,
                                       const std::vector<TargetColumn>* like) {
  const Table table = data.table("targets");
  const RowOf rows = rows_by_id(workload_id);
  std::vector<TargetColumn> targets;
  const auto add = [&](std::size_t column, std::vector<std::string> classes) {
    TargetColumn target;
    target.name = table.name(column);
    target.metadata = table.metadata(column);
    target.classes = std::move(classes);
    target.value.assign(workload_id.size(), kUnknown);
    fill(target, table, column, rows);
    targets.push_back(std::move(target));
  };
  if (like) {
    for (const TargetColumn& wanted : *like) add(table.index(wanted.name), wanted.classes);
    return targets;
  }
  for (std::size_t column = 0; column < table.columns(); ++column) {
    if (table.name(column) == "workload_id") continue;
    add(column, is_text(table.type(column)) ? classes_of(table.strings(column))
                                            : std::vector<std::string>());
  }
  if (targets.empty())
    throw Error(OMEN_INVALID_DATA, "there is no target to learn",
                "Name one with --target, such as share or device.");
  return targets;
}

}  // namespace omen::loadbalance
