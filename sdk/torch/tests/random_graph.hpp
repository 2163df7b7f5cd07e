// SPDX-License-Identifier: Apache-2.0
// Small random multigraphs with typed edges in both directions.
#pragma once

#include <random>

#include "omen/torch/nn/message_plan.hpp"

namespace omen::torch_kit::nn {

struct RandomGraph {
  std::vector<std::int32_t> tokens;
  TypedEdges edges;  // three relations, then the same reversed
  std::int64_t relations = 6;

  RandomGraph(std::int32_t nodes, std::int32_t forward_edges, unsigned seed, int words = 5) {
    std::mt19937 random(seed);
    const auto below = [&](int end) {
      return static_cast<std::int32_t>(random() % static_cast<unsigned>(end));
    };
    for (std::int32_t n = 0; n < nodes; ++n) tokens.push_back(below(words));
    for (std::int32_t e = 0; e < forward_edges; ++e) {
      const std::int32_t from = below(nodes), to = below(nodes), kind = below(3),
                         place = kind == 2 ? 0 : below(3) * 2;
      edges.push(from, to, kind, place);
      edges.push(to, from, 3 + kind, place);
    }
  }
};

}  // namespace omen::torch_kit::nn
