// SPDX-License-Identifier: Apache-2.0
// Nodes of a GraphDef in an order in which they can run, with costs and all their edges.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <string>
#include <vector>

#include "graphdef.hpp"

namespace omen::driple {

enum class GraphEdgeKind : std::uint8_t { data, control, back };  // back: closes a loop

struct GraphEdge {
  std::int32_t src = 0, dst = 0, position = 0;
  GraphEdgeKind kind = GraphEdgeKind::data;
};

struct GraphSteps {
  opgraph::Job job;              // with the data edges that lead forward
  std::vector<GraphEdge> edges;  // all of them
  std::vector<std::string> ops, devices;
  std::vector<std::int64_t> tensor_sizes;  // see published_tensor_size
  std::vector<std::string> warnings;
};

// Sizes that the file leaves open become `unknown_size`, and the batch where it is the first.
GraphSteps graph_steps(const std::vector<GraphNode>& nodes, const std::string& name,
                       std::int64_t unknown_size);

}  // namespace omen::driple
