// SPDX-License-Identifier: Apache-2.0
// Accumulates nodes and edges batch by batch.
#include "omen/learn/graph_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

Column number_column(std::string name, std::size_t rows) {
  Column column;
  column.name = std::move(name);
  column.numbers.assign(rows, kUnknown);
  return column;
}

}  // namespace

std::int32_t GraphStatistics::Labels::code(std::string_view label) {
  const auto [found, fresh] = place.emplace(label, static_cast<std::int32_t>(names.size()));
  if (fresh) names.emplace_back(label);
  return found->second;
}

GraphStatistics::Graph& GraphStatistics::graph(std::int64_t id) {
  const auto [found, fresh] = place_.emplace(id, graphs_.size());
  if (fresh) graphs_.emplace_back();
  return graphs_[found->second];
}

void GraphStatistics::add_nodes(const Table& batch) {
  const auto ids = batch.column<std::int64_t>("graph_id");
  const StringColumn ops = batch.strings("op");
  const bool has_feat = batch.has("feat");
  const ListColumn<float> feat =
      has_feat ? batch.list<float>("feat") : ListColumn<float>(nullptr, 0, 0);
  if (has_feat) feat_width_ = static_cast<std::size_t>(feat.width());
  for (std::int64_t row = 0; row < batch.rows(); ++row) {
    Graph& graph = this->graph(ids[row]);
    graph.degrees.push_back(0);
    if (!ops.is_null(row)) graph.ops[ops_.code(ops[row])] += 1;
    graph.feat_sums.resize(feat_width_, 0);
    for (std::size_t i = 0; i < feat_width_ && has_feat; ++i) {
      graph.feat_sums[i] += static_cast<double>(feat[row][i]);
    }
  }
}

void GraphStatistics::add_edges(const Table& batch) {
  const auto ids = batch.column<std::int64_t>("graph_id");
  const auto sources = batch.column<std::int32_t>("src");
  const auto targets = batch.column<std::int32_t>("dst");
  const bool kinds_given = batch.has("kind");
  const StringColumn kinds = kinds_given ? batch.strings("kind") : StringColumn();
  for (std::int64_t row = 0; row < batch.rows(); ++row) {
    Graph& graph = this->graph(ids[row]);
    for (const std::int32_t node : {sources[row], targets[row]}) {
      if (node < 0 || static_cast<std::size_t>(node) >= graph.degrees.size()) {
        throw_bad_data("an edge of graph " + std::to_string(ids[row]) + " names node " +
                           std::to_string(node) + ", but the graph has " +
                           std::to_string(graph.degrees.size()) + " nodes",
                       "number nodes from 0 and give every node a row");
      }
      ++graph.degrees[static_cast<std::size_t>(node)];
    }
    graph.edges += 1;
    if (kinds_given && !kinds.is_null(row)) graph.kinds[kinds_.code(kinds[row])] += 1;
  }
}

void GraphStatistics::append_to(Frame& frame, const std::string& prefix,
                                const std::vector<std::int64_t>& graph_ids) const {
  const std::size_t rows = graph_ids.size();
  Column nodes = number_column(prefix + "nodes", rows);
  Column edges = number_column(prefix + "edges", rows);
  Column mean_degree = number_column(prefix + "mean_degree", rows);
  Column max_degree = number_column(prefix + "max_degree", rows);
  std::vector<Column> sums, means;
  for (std::size_t i = 0; i < feat_width_; ++i) {
    sums.push_back(number_column(prefix + "feat_sum." + std::to_string(i), rows));
    means.push_back(number_column(prefix + "feat_mean." + std::to_string(i), rows));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const auto found = place_.find(graph_ids[row]);
    if (found == place_.end()) continue;
    const Graph& graph = graphs_[found->second];
    const auto count = static_cast<double>(graph.degrees.size());
    nodes.numbers[row] = count;
    edges.numbers[row] = graph.edges;
    mean_degree.numbers[row] = count > 0 ? 2 * graph.edges / count : 0;
    max_degree.numbers[row] =
        graph.degrees.empty() ? 0 : *std::max_element(graph.degrees.begin(), graph.degrees.end());
    for (std::size_t i = 0; i < graph.feat_sums.size(); ++i) {
      sums[i].numbers[row] = graph.feat_sums[i];
      means[i].numbers[row] = graph.feat_sums[i] / count;
    }
  }
  for (Column* column : {&nodes, &edges, &mean_degree, &max_degree}) {
    frame.columns.push_back(std::move(*column));
  }
  for (std::size_t i = 0; i < feat_width_; ++i) {
    frame.columns.push_back(std::move(sums[i]));
    frame.columns.push_back(std::move(means[i]));
  }
  frame.bags.push_back(bag(prefix + "op", ops_, &Graph::ops, graph_ids));
  frame.bags.push_back(bag(prefix + "edge_kind", kinds_, &Graph::kinds, graph_ids));
}

Bag GraphStatistics::bag(const std::string& name, const Labels& labels,
                         std::map<std::int32_t, double> Graph::*counts,
                         const std::vector<std::int64_t>& graph_ids) const {
  Bag bag{name, labels.names, {}};
  for (std::size_t row = 0; row < graph_ids.size(); ++row) {
    const auto found = place_.find(graph_ids[row]);
    if (found == place_.end()) continue;
    for (const auto& [label, count] : graphs_[found->second].*counts) {
      bag.entries.push_back({static_cast<Index>(row), label, count});
    }
  }
  return bag;
}

}  // namespace omen::learn
