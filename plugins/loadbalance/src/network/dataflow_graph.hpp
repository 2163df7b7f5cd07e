// SPDX-License-Identifier: Apache-2.0
// A program graph as the data-flow network reads it: the edges that it follows, and the nodes on
// them apart from the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataflow/analysis.hpp"
#include "omen/torch/columns.hpp"
#include "omen/torch/nn/message_plan.hpp"

namespace omen::loadbalance {

namespace nn = torch_kit::nn;

// Edges of one flow, along or against them; or ways along control edges through a basic block to
// the 2nd, 4th, 8th .. instruction behind, by which the end of it is near everywhere.
struct Relation {
  Flow flow = Flow::kControl;
  bool backward = false;
  bool skips = false;
};

// From a list such as "control,skip,data-back"; "all" is the three flows in both directions.
// OMEN_INVALID_ARGUMENT with the known names for anything else.
std::vector<Relation> parse_relations(const std::string& names);

// The edges along which the answer of an analysis travels.
const char* usual_relations(Analysis analysis);

// Nodes on an edge of the relations come first. No message reaches the others, which keep their
// first state.
struct DataflowGraph {
  std::vector<std::int32_t> nodes;   // by row
  std::vector<std::int32_t> tokens;  // by row
  std::int64_t active = 0;           // rows on edges
  nn::TypedEdges edges;              // between rows
};

DataflowGraph dataflow_graph(const ProgramGraph& graph, const std::vector<Relation>& relations,
                             const torch_kit::Vocabulary& words);

}  // namespace omen::loadbalance
