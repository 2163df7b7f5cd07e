// SPDX-License-Identifier: Apache-2.0
// Graphs as node-link JSON, and what a summary says about them.
#include "graph_output.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "graph_rows.hpp"
#include "text/json_writer.hpp"

namespace omen::host {
namespace {

void write_cell(JsonWriter& json, const Table& table, std::size_t column, std::int64_t row) {
  const Type type = table.type(column);
  if (table.is_null(column, row)) {
    json.null();
  } else if (type == Type::kBool) {
    json.value(table.boolean(column, row));
  } else if (is_text(type)) {
    json.value(table.strings(column)[row]);
  } else if (type == Type::kInt64) {
    json.value(table.column<std::int64_t>(column)[row]);
  } else if (type == Type::kFloatList || type == Type::kIntList) {
    std::string list = "[";
    for (std::int64_t i = 0; i < table.list_size(column); ++i) {
      JsonWriter number;
      if (type == Type::kFloatList)
        number.value(static_cast<double>(table.list<float>(column)[row][i]));
      else
        number.value(table.list<std::int32_t>(column)[row][i]);
      const std::string text = number.text();
      list += (i ? ", " : "") + text.substr(0, text.size() - 1);
    }
    json.raw(list + "]");
  } else {
    json.value(table.slice(row, 1).numbers(column)[0]);
  }
}

// Columns of one row as fields; `renamed` maps names, an empty new name leaves the column out.
void write_fields(JsonWriter& json, const Table& table, std::int64_t row,
                  const std::map<std::string, std::string>& renamed) {
  for (std::size_t c = 0; c < table.columns(); ++c) {
    std::string name(table.name(c));
    if (const auto at = renamed.find(name); at != renamed.end()) name = at->second;
    if (name.empty()) continue;
    json.key(name);
    write_cell(json, table, c, row);
  }
}

// Edges between the same two nodes are told apart by a running key; without it networkx keeps one.
struct Ends {
  std::vector<std::int64_t> src, dst;
};
void write_links(JsonWriter& json, const Tables& tables, const GraphRows& graph, const Ends& ends) {
  if (graph.edges.empty()) return;
  const Table& edges = tables.at("edges");
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> keys;
  for (const std::int64_t row : graph.edges) {
    const auto at = static_cast<std::size_t>(row);
    json.object();
    write_fields(json, edges, row, {{"graph_id", ""}, {"src", "source"}, {"dst", "target"}});
    if (!edges.has("key")) json.field("key", keys[{ends.src[at], ends.dst[at]}]++);
    json.end();
  }
}

void write_graph(JsonWriter& json, const Tables& tables, const GraphRows& graph, const Ends& ends,
                 std::int64_t workload) {
  const Table& nodes = tables.at("nodes");
  json.object().field("format_version", 1).field("directed", true).field("multigraph", true);
  json.key("graph").object();
  const std::string dialect = nodes.metadata("omen.dialect");
  if (!dialect.empty()) json.field("dialect", dialect);
  if (workload >= 0)
    write_fields(json, tables.at("workloads"), workload, {{"workload_id", ""}, {"graph_id", ""}});
  json.end().key("nodes").array();
  for (const std::int64_t row : graph.nodes) {
    json.object();
    write_fields(json, nodes, row, {{"graph_id", ""}, {"node_id", "id"}});
    json.end();
  }
  json.end().key("links").array();
  write_links(json, tables, graph, ends);
  json.end().end();
}

std::string most_frequent(const std::map<std::string, std::int64_t>& counts, std::size_t shown) {
  std::vector<std::pair<std::string, std::int64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](auto& a, auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, order.size()); ++i)
    text += (i ? ", " : "") + order[i].first + " " + std::to_string(order[i].second);
  return text;
}

}  // namespace

std::string graph_json(const Tables& tables) {
  const auto graphs = graphs_in(tables);
  const auto workloads = workload_of_graph(tables);
  Ends ends;
  if (const auto edges = tables.find("edges"); edges != tables.end() && edges->second.rows() > 0)
    ends = {integers(edges->second, "src"), integers(edges->second, "dst")};
  JsonWriter json;
  if (graphs.size() != 1) json.array();
  for (const GraphRows& graph : graphs) {
    const auto at = workloads.find(graph.id);
    write_graph(json, tables, graph, ends, at == workloads.end() ? -1 : at->second);
  }
  if (graphs.size() != 1) json.end();
  return json.text();
}

GraphFacts graph_facts(const Tables& tables) {
  GraphFacts facts;
  if (!tables.count("nodes")) return facts;
  facts.graphs = static_cast<std::int64_t>(graphs_in(tables).size());
  facts.nodes = tables.at("nodes").rows();
  std::map<std::string, std::int64_t> ops, kinds;
  for (const std::string& op : texts(tables.at("nodes"), "op", "?")) ++ops[op];
  facts.ops = static_cast<std::int64_t>(ops.size());
  facts.frequent_ops = most_frequent(ops, 4);
  if (const auto edges = tables.find("edges"); edges != tables.end()) {
    facts.edges = edges->second.rows();
    for (const std::string& kind : texts(edges->second, "kind", "data")) ++kinds[kind];
    facts.edge_kinds = most_frequent(kinds, 4);
  }
  return facts;
}

}  // namespace omen::host
