// SPDX-License-Identifier: Apache-2.0
// Sorts the rows of `nodes` and `edges` by graph.
#include "graph_rows.hpp"

#include "omen/error.hpp"

namespace omen::host {

std::vector<std::int64_t> integers(const Table& table, const char* column) {
  std::vector<std::int64_t> values;
  for (const double value : table.numbers(column))
    values.push_back(static_cast<std::int64_t>(value));
  return values;
}

std::vector<std::string> texts(const Table& table, const char* column, const char* otherwise) {
  std::vector<std::string> values(static_cast<std::size_t>(table.rows()), otherwise);
  const auto at = table.find(column);
  if (!at || !is_text(table.type(*at))) return values;
  const StringColumn strings = table.strings(*at);
  for (std::int64_t row = 0; row < table.rows(); ++row)
    values[static_cast<std::size_t>(row)] = strings[row];
  return values;
}

std::vector<GraphRows> graphs_in(const Tables& tables) {
  const auto nodes = tables.find("nodes");
  if (nodes == tables.end())
    throw Error(OMEN_INVALID_DATA, "the input has no graph: there is no table 'nodes'");
  std::vector<GraphRows> graphs;
  std::unordered_map<std::int64_t, std::size_t> index;
  const auto node_graphs = integers(nodes->second, "graph_id");
  for (std::size_t row = 0; row < node_graphs.size(); ++row) {
    const auto [at, fresh] = index.try_emplace(node_graphs[row], graphs.size());
    if (fresh) graphs.push_back({node_graphs[row], {}, {}});
    graphs[at->second].nodes.push_back(static_cast<std::int64_t>(row));
  }
  const auto edges = tables.find("edges");
  if (edges == tables.end()) return graphs;
  const auto edge_graphs = integers(edges->second, "graph_id");
  for (std::size_t row = 0; row < edge_graphs.size(); ++row)
    if (const auto at = index.find(edge_graphs[row]); at != index.end())
      graphs[at->second].edges.push_back(static_cast<std::int64_t>(row));
  return graphs;
}

std::unordered_map<std::int64_t, std::int64_t> workload_of_graph(const Tables& tables) {
  std::unordered_map<std::int64_t, std::int64_t> rows;
  const auto at = tables.find("workloads");
  if (at == tables.end()) return rows;
  const char* column = at->second.has("graph_id") ? "graph_id" : "workload_id";
  const auto ids = integers(at->second, column);
  for (std::size_t row = 0; row < ids.size(); ++row)
    rows.try_emplace(ids[row], static_cast<std::int64_t>(row));
  return rows;
}

}  // namespace omen::host
