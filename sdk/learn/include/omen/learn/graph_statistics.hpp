// SPDX-License-Identifier: Apache-2.0
// Size statistics and op counts of graphs, the features that graph tasks get.
#pragma once

#include <cstdint>
#include <map>
#include <omen/table.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "omen/learn/frame.hpp"

namespace omen::learn {

/// Per graph: number of nodes and edges, mean and largest degree, sum and mean of every `feat`
/// column, and bags of op and edge-kind counts. Batches may come in any size.
class GraphStatistics {
 public:
  void add_nodes(const Table& batch);
  /// After all nodes; throws when an edge names a node that its graph does not have.
  void add_edges(const Table& batch);

  bool empty() const { return graphs_.empty(); }
  bool has(std::int64_t graph_id) const { return place_.count(graph_id) > 0; }
  /// Adds one row per id to columns and bags named after `prefix`; an unknown graph has nulls.
  void append_to(Frame& frame, const std::string& prefix,
                 const std::vector<std::int64_t>& graph_ids) const;

 private:
  struct Graph {
    std::vector<std::int32_t> degrees;  ///< one per node
    double edges = 0;
    std::vector<double> feat_sums;
    std::map<std::int32_t, double> ops, kinds;
  };
  /// Labels across batches, whose dictionaries may differ.
  struct Labels {
    std::vector<std::string> names;
    std::unordered_map<std::string, std::int32_t> place;

    std::int32_t code(std::string_view label);
  };

  Graph& graph(std::int64_t id);
  Bag bag(const std::string& name, const Labels& labels,
          std::map<std::int32_t, double> Graph::*counts,
          const std::vector<std::int64_t>& graph_ids) const;

  std::unordered_map<std::int64_t, std::size_t> place_;
  std::vector<Graph> graphs_;
  Labels ops_, kinds_;
  std::size_t feat_width_ = 0;
};

}  // namespace omen::learn
