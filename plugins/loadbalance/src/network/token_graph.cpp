// SPDX-License-Identifier: Apache-2.0
// Reading node and edge tables; a text is looked up once, not once a node.
#include "network/token_graph.hpp"

#include <algorithm>
#include <string>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

[[noreturn]] void bad_row(const char* table, std::int64_t row, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, std::string(table) + " row " + std::to_string(row) + ": " + what,
              "Make the tables with: omen graph FILE -o OUT.omt");
}

// The number of each row's text.
class TextNumbers {
 public:
  TextNumbers(StringColumn column, const Vocabulary& words) : column_(column), words_(words) {
    if (!column_.codes()) return;
    for (std::int64_t code = 0; code < column_.value_count(); ++code)
      by_code_.push_back(words.id(column_.value(code)));
  }
  std::int32_t operator[](std::int64_t row) const {
    if (!column_.codes() || column_.is_null(row)) return words_.id(column_[row]);
    return by_code_[static_cast<std::size_t>(column_.codes()[row])];
  }

 private:
  StringColumn column_;
  const Vocabulary& words_;
  std::vector<std::int32_t> by_code_;
};

std::int32_t flow_of(const StringColumn& kind, std::int64_t row) {
  const std::string_view name = kind[row];
  for (std::int32_t flow = 0; flow < kFlows; ++flow)
    if (name == kFlowNames[static_cast<std::size_t>(flow)]) return flow;
  throw Error(OMEN_INVALID_DATA,
              "edges row " + std::to_string(row) + ": kind '" + std::string(name) +
                  "' is none that the network knows",
              "Make graphs of the dialect programl/1, the default of omen graph.");
}

void read_nodes(const Table& nodes, const Vocabulary& words, TokenGraphs& out) {
  const Column<std::int64_t> graph = nodes.column<std::int64_t>("graph_id");
  const Column<std::int32_t> node = nodes.column<std::int32_t>("node_id");
  const TextNumbers number(nodes.strings("op"), words);
  for (std::int64_t row = 0; row < nodes.rows(); ++row) {
    if (row == 0 || graph[row] != graph[row - 1]) {
      if (!out.by_id.try_emplace(graph[row], out.graphs.size()).second)
        bad_row("nodes", row, "graph " + std::to_string(graph[row]) + " comes back");
      out.graphs.emplace_back();
    }
    std::vector<std::int32_t>& tokens = out.graphs.back().tokens;
    if (node[row] != static_cast<std::int32_t>(tokens.size()))
      bad_row("nodes", row,
              "node_id is " + std::to_string(node[row]) + ", expected " +
                  std::to_string(tokens.size()));
    tokens.push_back(number[row]);
  }
}

void read_edges(const Table& edges, TokenGraphs& out) {
  if (edges.rows() == 0) return;
  const Column<std::int64_t> graph = edges.column<std::int64_t>("graph_id");
  const Column<std::int32_t> source = edges.column<std::int32_t>("src"),
                             target = edges.column<std::int32_t>("dst"),
                             position = edges.column<std::int32_t>("position");
  const StringColumn kind = edges.strings("kind");
  nn::TokenGraph* into = nullptr;
  for (std::int64_t row = 0; row < edges.rows(); ++row) {
    if (row == 0 || graph[row] != graph[row - 1]) {
      const auto found = out.by_id.find(graph[row]);
      if (found == out.by_id.end())
        bad_row("edges", row, "graph " + std::to_string(graph[row]) + " has no nodes");
      into = &out.graphs[found->second];
    }
    for (const std::int32_t end : {source[row], target[row]})
      if (end < 0 || end >= into->nodes())
        bad_row("edges", row,
                "node " + std::to_string(end) + " of " + std::to_string(into->nodes()));
    into->edges.push(source[row], target[row], flow_of(kind, row), std::max(0, position[row]));
  }
}

}  // namespace

const nn::TokenGraph* TokenGraphs::find(std::int64_t graph_id) const {
  const auto found = by_id.find(graph_id);
  return found == by_id.end() ? nullptr : &graphs[found->second];
}

TokenGraphs read_token_graphs(const Table& nodes, const Table& edges, const Vocabulary& words) {
  TokenGraphs out;
  read_nodes(nodes, words, out);
  read_edges(edges, out);
  return out;
}

Vocabulary occurring_words(const Table& nodes, const Vocabulary& words) {
  std::vector<bool> occurs(words.texts().size() + 1, false);
  const TextNumbers number(nodes.strings("op"), words);
  for (std::int64_t row = 0; row < nodes.rows(); ++row)
    occurs[static_cast<std::size_t>(number[row])] = true;
  std::vector<std::string> texts;
  for (std::size_t id = 0; id < words.texts().size(); ++id)
    if (occurs[id]) texts.push_back(words.texts()[id]);
  return Vocabulary(std::move(texts), words.lookup());
}

}  // namespace omen::loadbalance
