// SPDX-License-Identifier: Apache-2.0
// Program graphs as a network reads them: a number for each node's text, and typed edges.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/vocabulary.hpp"
#include "omen/table.hpp"
#include "omen/torch/nn/graph_plan.hpp"

namespace omen::loadbalance {

namespace nn = torch_kit::nn;

inline constexpr std::int64_t kFlows = 3;  // control, data, call; a network knows no type edges

// The graphs of a nodes and an edges table, in the order of their first node.
struct TokenGraphs {
  std::vector<nn::TokenGraph> graphs;
  std::unordered_map<std::int64_t, std::size_t> by_id;

  // Null where there is no such graph.
  const nn::TokenGraph* find(std::int64_t graph_id) const;
};

// OMEN_INVALID_DATA with the row for nodes that are not numbered from 0 in their graph, for an edge
// that names a node or graph that does not exist, and for type edges.
TokenGraphs read_token_graphs(const Table& nodes, const Table& edges, const Vocabulary& words);

// The texts of `words` that occur in the table, in the order of their ids: what an embedding that
// is learnt from it can know.
Vocabulary occurring_words(const Table& nodes, const Vocabulary& words);

}  // namespace omen::loadbalance
