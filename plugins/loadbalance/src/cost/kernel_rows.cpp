// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a dataset into rows.
#include "cost/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/graph_ids.hpp>
#include <unordered_map>

#include "opencl/launch_columns.hpp"

namespace omen::loadbalance::cost {
namespace {

std::vector<double> numbers_or_unknown(const Table& table, const char* name) {
  std::vector<double> values(static_cast<std::size_t>(table.rows()), kUnknown);
  const auto column = table.find(name);
  if (!column || !is_number(table.type(*column))) return values;
  const std::vector<double> given = table.numbers(*column);
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (!table.is_null(*column, row))
      values[static_cast<std::size_t>(row)] = given[static_cast<std::size_t>(row)];
  return values;
}

std::vector<std::string> texts_or_empty(const Table& table, const char* name) {
  std::vector<std::string> values(static_cast<std::size_t>(table.rows()));
  const auto column = table.find(name);
  if (!column || !is_text(table.type(*column))) return values;
  const StringColumn given = table.strings(name);
  for (std::int64_t row = 0; row < table.rows(); ++row)
    values[static_cast<std::size_t>(row)] = std::string(given[row]);
  return values;
}

// Ids of the graphs in `nodes`, ascending, as from_tables() orders them.
std::vector<std::int64_t> graph_ids(const Table& nodes) {
  std::vector<std::int64_t> ids;
  for (const double id : nodes.numbers("graph_id")) ids.push_back(static_cast<std::int64_t>(id));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::unordered_map<std::int64_t, std::int32_t> read_graphs(const Dataset& in, KernelRows& rows,
                                                           const Run& run) {
  std::unordered_map<std::int64_t, std::int32_t> place;
  if (!in.has("nodes")) return place;
  const Table nodes = in.table("nodes");
  const Table edges = in.has("edges") ? in.table("edges") : Table();
  const std::vector<std::int64_t> ids = graph_ids(nodes);
  const std::vector<ProgramGraph> graphs = from_tables(nodes, edges);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (i % 32 == 0) run.step(static_cast<double>(i) / static_cast<double>(graphs.size()), "count");
    place[ids[i]] = static_cast<std::int32_t>(rows.graphs.size());
    rows.graphs.push_back(count_features(graphs[i]));
  }
  return place;
}

void read_targets(const Dataset& in, KernelRows& rows) {
  const Table targets = in.table("targets");
  const std::vector<double> ids = targets.numbers("workload_id");
  const std::vector<double> cpu = numbers_or_unknown(targets, "t_cpu_ms");
  const std::vector<double> gpu = numbers_or_unknown(targets, "t_gpu_ms");
  const std::vector<double> share = numbers_or_unknown(targets, "share");
  std::unordered_map<std::int64_t, std::size_t> row_of;
  for (std::size_t row = 0; row < ids.size(); ++row)
    row_of[static_cast<std::int64_t>(ids[row])] = row;
  for (KernelRow& row : rows.rows) {
    const auto at = row_of.find(row.workload_id);
    if (at == row_of.end()) continue;
    row.t_cpu_ms = cpu[at->second];
    row.t_gpu_ms = gpu[at->second];
    row.share = share[at->second];
  }
}

}  // namespace

bool KernelRow::has_both_times() const {
  return t_cpu_ms > 0 && t_gpu_ms > 0 && std::isfinite(t_cpu_ms) && std::isfinite(t_gpu_ms);
}

const FeatureCounts& KernelRows::counts(const KernelRow& row) const {
  static const FeatureCounts none;
  return row.graph < 0 ? none : graphs[static_cast<std::size_t>(row.graph)];
}

KernelRows read_kernels(const Dataset& in, bool with_targets, const Run& run) {
  KernelRows rows;
  const std::unordered_map<std::int64_t, std::int32_t> graphs = read_graphs(in, rows, run);
  const Table workloads = in.table("workloads");
  const std::vector<double> ids = numbers_or_unknown(workloads, "workload_id");
  const std::vector<double> graph =
      numbers_or_unknown(workloads, learn::graph_id_column(workloads));
  const std::vector<LaunchFigures> launch = launch_figures(workloads);
  const std::vector<std::string> group = texts_or_empty(workloads, "group");
  const std::vector<std::string> name = texts_or_empty(workloads, "name");
  const std::vector<std::string> cpu = texts_or_empty(workloads, "cpu");
  const std::vector<std::string> gpu = texts_or_empty(workloads, "gpu");
  const std::vector<std::string> compiled = texts_or_empty(workloads, "compiled");
  const std::vector<std::string> divisible = texts_or_empty(workloads, "divisible");
  std::array<std::vector<double>, 6> grewe;
  for (std::size_t c = 0; c < grewe.size(); ++c)
    grewe[c] = numbers_or_unknown(workloads, kGreweColumns[c]);
  std::unordered_map<std::string, std::int32_t> group_of;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    KernelRow row;
    row.workload_id = static_cast<std::int64_t>(ids[i]);
    if (const auto at = graphs.find(static_cast<std::int64_t>(graph[i]));
        graph[i] == graph[i] && at != graphs.end())
      row.graph = at->second;
    row.wgsize = launch[i].wgsize;
    row.input_size = launch[i].input_size;
    for (std::size_t c = 0; c < grewe.size(); ++c) row.grewe[c] = grewe[c][i];
    const auto [at, fresh] =
        group_of.try_emplace(group[i], static_cast<std::int32_t>(rows.groups.size()));
    if (fresh) rows.groups.push_back(group[i]);
    row.group = at->second;
    row.name = name[i];
    row.cpu = cpu[i];
    row.gpu = gpu[i];
    row.compiled = compiled[i];
    row.divisible = divisible[i];
    rows.rows.push_back(std::move(row));
  }
  if (with_targets) read_targets(in, rows);
  return rows;
}

void append(KernelRows& rows, KernelRows more) {
  const auto first = static_cast<std::int32_t>(rows.graphs.size());
  for (FeatureCounts& graph : more.graphs) rows.graphs.push_back(std::move(graph));
  for (KernelRow& row : more.rows) {
    if (row.graph >= 0) row.graph += first;
    const std::string& group = more.groups[static_cast<std::size_t>(row.group)];
    const auto at = std::find(rows.groups.begin(), rows.groups.end(), group);
    row.group = static_cast<std::int32_t>(at - rows.groups.begin());
    if (at == rows.groups.end()) rows.groups.push_back(group);
    rows.rows.push_back(std::move(row));
  }
}

}  // namespace omen::loadbalance::cost
