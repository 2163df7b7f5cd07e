// SPDX-License-Identifier: Apache-2.0
// Graphs from nodes and edges tables, and batches of them as one disconnected graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "omen/table.hpp"
#include "omen/torch/adjacency.hpp"

namespace omen::torch_kit {

struct GraphOptions {
  /// Edge kinds in the order of their numbers. Empty: the column is not read, all edges are 0.
  std::vector<std::string> kinds;
  /// Adds every edge with its ends exchanged and the same position; kind k becomes kinds + k.
  bool reverse = false;
  /// Adds an edge from each node without one to itself; they have the last relation.
  bool self_loops = false;
  /// Keeps the first of edges with the same source row and target.
  bool unique = false;
  /// Source rows are node * relations + relation, so that one matrix [N * relations, d] holds the
  /// messages of all relations.
  bool typed = false;
  std::string feature_column = "feat";
};

/// Some graphs side by side. Edge tensors are in slot order of `adjacency`, whose edge_order()
/// counts internal lists; edge_rows leads back to the table.
struct Batch {
  std::int64_t graphs = 0;
  std::int64_t nodes = 0;
  at::Tensor graph_offsets;  ///< [graphs + 1] int64, first node of each graph
  at::Tensor features;       ///< [nodes, d] float32, undefined where the table has none; read-only
  Adjacency adjacency;
  at::Tensor relation;   ///< [E] int64: edge kind, reversed or loop relation
  at::Tensor position;   ///< [E] int64, 0 where the table has none
  at::Tensor edge_rows;  ///< [E] int64 rows of the edges table, -1 for added loops
  at::Tensor node_rows;  ///< [nodes] int64 rows of the nodes table; undefined when consecutive
  std::int64_t first_node_row = 0;  ///< where consecutive rows begin

  /// The rows of a tensor over the whole nodes table that belong to this batch: a view when they
  /// are consecutive, else a copy.
  at::Tensor select_nodes(const at::Tensor& per_node) const;
  Batch to(at::Device device) const;
};

/// All graphs of a nodes and an edges table, with edges sorted in both directions once; a batch
/// then copies slices. Reads the tables in place and keeps them alive. Immutable, so batches may
/// be made from several threads.
class GraphSet {
 public:
  /// Both tables are ascending in graph_id, node_id counts from 0 in each graph. Throws
  /// OMEN_INVALID_DATA with the row where they are not, where an edge names a node or graph that
  /// does not exist, or where its kind is not among options.kinds.
  GraphSet(const Table& nodes, const Table& edges, const GraphOptions& options = {});

  std::int64_t size() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t relations() const { return relations_; }
  std::int64_t total_nodes() const { return node_begin_.back(); }
  std::int64_t graph_id(std::int64_t graph) const { return ids_[static_cast<std::size_t>(graph)]; }
  /// Number of the graph with this id.
  std::optional<std::int64_t> find(std::int64_t graph_id) const;

  std::int64_t nodes(std::int64_t graph) const;
  /// Edges including those that the options added: the cost of a graph for plan_batches.
  std::int64_t edges(std::int64_t graph) const;
  std::vector<std::int64_t> edge_counts() const;

  /// [total nodes, d] over the memory of the table; undefined where there is no such column.
  const at::Tensor& features() const { return features_; }

  /// The named graphs in this order; one may come several times. Consecutive ones share the
  /// memory of the features.
  Batch batch(const std::vector<std::int64_t>& graphs) const;
  /// Every graph; shares all memory.
  Batch all() const;

 private:
  struct EdgeLists;
  void read_nodes(const Table& nodes);
  EdgeLists read_edges(const Table& edges, const GraphOptions& options) const;
  void add_self_loops(EdgeLists& lists) const;
  void sort_edges(EdgeLists lists, const GraphOptions& options);

  std::vector<std::int64_t> ids_;
  std::unordered_map<std::int64_t, std::int64_t> number_;
  std::vector<std::int64_t> node_begin_;  // size() + 1 rows of the nodes table
  std::int64_t relations_ = 1;
  std::int64_t source_stride_ = 1;  // source rows per node
  at::Tensor features_;
  Adjacency adjacency_;  // of all graphs
  at::Tensor relation_, position_, edge_rows_;
};

}  // namespace omen::torch_kit
