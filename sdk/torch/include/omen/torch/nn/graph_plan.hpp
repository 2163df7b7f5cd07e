// SPDX-License-Identifier: Apache-2.0
// Everything a network needs to know about some graphs, prepared once and used in every epoch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "omen/torch/adjacency.hpp"
#include "omen/torch/nn/message_plan.hpp"

namespace omen::torch_kit::nn {

// A graph as a network reads it: a number for what each node says, and typed edges.
struct TokenGraph {
  std::vector<std::int32_t> tokens;
  TypedEdges edges;  // as they stand in the graph; the relation is the kind of an edge

  std::int64_t nodes() const noexcept { return static_cast<std::int64_t>(tokens.size()); }
};

struct PlanOptions {
  std::int64_t edge_kinds = 1;
  std::int64_t steps = 6;
  bool backward_edges = true;
  // Equal nodes share a row (colour refinement). Exact without dropout of states; under dropout
  // they would also share their masks.
  bool refine = true;
  bool forward = false;  // convolutions and some poolings follow edges between nodes
};

// Some graphs side by side. Level t holds the rows after t steps; without refinement every level
// has one row for each node.
struct GraphPlan {
  std::int64_t graphs = 0, nodes = 0;
  at::Tensor tokens;                                      // [rows of level 0] int64
  std::vector<std::shared_ptr<const MessagePlan>> steps;  // from level t to level t + 1

  struct Level {
    std::int64_t rows = 0;
    at::Tensor row_of_node;    // [nodes] int64; undefined: its own row
    Adjacency pool;            // from rows to graphs
    at::Tensor counts, means;  // [pool edges] nodes behind a row, and their share of the graph
  };
  std::vector<Level> levels;  // steps + 1; equal ones share their memory

  at::Tensor graph_offsets;  // [graphs + 1] int64, first node of each graph
  Adjacency forward;         // edges between nodes, kinds and positions forgotten; if asked for

  // Rows of level t as one row for each node.
  at::Tensor to_nodes(std::size_t level, const at::Tensor& rows) const;
};

GraphPlan plan_graphs(const std::vector<const TokenGraph*>& graphs, const PlanOptions& options);

// Graphs that a network cannot tell apart, listed once: `graphs` are some of the given ones,
// number[i] says which of them stands for the i-th. A null stays out and has number -1.
struct DistinctGraphs {
  std::vector<const TokenGraph*> graphs;
  std::vector<std::int64_t> number;
};
DistinctGraphs distinct_graphs(const std::vector<const TokenGraph*>& graphs,
                               const PlanOptions& options);

}  // namespace omen::torch_kit::nn
