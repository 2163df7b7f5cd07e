// SPDX-License-Identifier: Apache-2.0
// Compiled as C++17, because LEMON uses parts of the standard library that C++20 removed.
#include "pack/matching.hpp"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <cmath>
#include <cstdint>

namespace omen::interference {

std::vector<int> best_matching(int count, const std::vector<WeightedPair>& pairs) {
  using Graph = lemon::SmartGraph;
  // Whole numbers keep the dual exact, so that the search ends on every machine.
  constexpr double kUnits = 1e9;
  Graph graph;
  std::vector<Graph::Node> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(graph.addNode());
  Graph::EdgeMap<std::int64_t> weight(graph);
  for (const WeightedPair& pair : pairs) {
    if (!(pair.weight > 0) || pair.first == pair.second) continue;
    const Graph::Edge edge = graph.addEdge(nodes[static_cast<std::size_t>(pair.first)],
                                           nodes[static_cast<std::size_t>(pair.second)]);
    weight[edge] = std::llround(pair.weight * kUnits);
  }
  lemon::MaxWeightedMatching<Graph, Graph::EdgeMap<std::int64_t>> search(graph, weight);
  search.run();
  std::vector<int> partner(static_cast<std::size_t>(count), -1);
  for (int i = 0; i < count; ++i) {
    const Graph::Node mate = search.mate(nodes[static_cast<std::size_t>(i)]);
    if (mate != lemon::INVALID) partner[static_cast<std::size_t>(i)] = Graph::id(mate);
  }
  return partner;
}

}  // namespace omen::interference
