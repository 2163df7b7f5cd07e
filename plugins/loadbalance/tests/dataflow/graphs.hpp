// SPDX-License-Identifier: Apache-2.0
// Small program graphs for tests of data-flow labels, by hand and at random.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "graph/program_graph.hpp"

namespace omen::loadbalance::testing {

// Types as letters I, V and C, one function; node 0 is the outside.
inline ProgramGraph graph_of(const std::string& types, const std::vector<std::string>& texts = {}) {
  ProgramGraph graph;
  graph.name = "test";
  graph.functions = {"f"};
  TextTable codes(graph);
  for (std::size_t i = 0; i < types.size(); ++i) {
    Node node;
    node.type = types[i] == 'I'   ? NodeType::kInstruction
                : types[i] == 'V' ? NodeType::kVariable
                                  : NodeType::kConstant;
    node.text = codes.code(i < texts.size() ? texts[i] : "x");
    node.function = i == 0 || types[i] == 'C' ? -1 : 0;
    graph.nodes.push_back(node);
  }
  return graph;
}

inline void connect(ProgramGraph& graph, Flow flow, std::int32_t source, std::int32_t target,
                    std::int32_t position = 0) {
  graph.edges.push_back({source, target, position, flow});
}

inline std::vector<std::int32_t> labelled(const std::vector<std::uint8_t>& value) {
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 0; i < value.size(); ++i)
    if (value[i]) nodes.push_back(static_cast<std::int32_t>(i));
  return nodes;
}

// One function with random control flow, loops and dead code included, and values that have one
// definition and some uses, or none and several.
inline ProgramGraph random_graph(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::int32_t>(random() % n); };
  const std::size_t instructions = 3 + random() % 12, values = 2 + random() % 8;
  ProgramGraph graph = graph_of(std::string(instructions + 1, 'I') + std::string(values, 'V'));
  TextTable codes(graph);
  const std::int32_t add = codes.code("add"), sub = codes.code("sub");
  for (std::size_t i = 1; i <= instructions; ++i) graph.nodes[i].text = random() % 2 ? add : sub;
  connect(graph, Flow::kCall, 0, 1);
  for (std::size_t i = 1; i < instructions; ++i)
    if (random() % 8) connect(graph, Flow::kControl, static_cast<int>(i), static_cast<int>(i) + 1);
  for (std::size_t i = 0; i < instructions / 2; ++i)
    connect(graph, Flow::kControl, 1 + below(instructions), 2 + below(instructions - 1), 1);
  for (std::size_t v = 0; v < values; ++v) {
    const auto value = static_cast<std::int32_t>(instructions + 1 + v);
    if (random() % 3) connect(graph, Flow::kData, 1 + below(instructions), value);
    for (std::size_t use = 1 + random() % 3; use > 0; --use)
      connect(graph, Flow::kData, value, 1 + below(instructions), below(2));
  }
  return graph;
}

}  // namespace omen::loadbalance::testing
