// SPDX-License-Identifier: Apache-2.0
// Grouped graphs of one size side by side, prepared once for all layers and epochs.
#pragma once

#include <cstdint>
#include <vector>

#include "grouping/grouped_graph.hpp"

namespace omen::driple {

// The normalised adjacency D^-1/2 (A + I) D^-1/2 as compressed rows; it is symmetric.
struct NormalisedRows {
  std::vector<std::int32_t> begin;      // [rows + 1]
  std::vector<std::int32_t> neighbour;  // the row itself among them
  std::vector<float> weight;
};

struct GroupBatch {
  std::int64_t graphs = 0, nodes = 0;  // nodes of each graph
  std::vector<float> features;         // [graphs * nodes, kGroupFeatures]
  NormalisedRows normalised;
  std::vector<std::int64_t> source, target;  // both directions, no loops, by target

  std::int64_t rows() const { return graphs * nodes; }
};

// All graphs have as many groups as the first; OMEN_INVALID_ARGUMENT otherwise.
GroupBatch make_batch(const std::vector<const GroupedGraph*>& graphs);

}  // namespace omen::driple
