// SPDX-License-Identifier: Apache-2.0
// Shrinks a program graph to its instructions.
#include "graph/cdfg.hpp"

namespace omen::loadbalance {
namespace {

bool is_instruction(const ProgramGraph& graph, std::int32_t node) {
  return graph.nodes[static_cast<std::size_t>(node)].type == NodeType::kInstruction;
}

// Which instructions write and read each variable, in the order of the edges.
struct VariableEnds {
  std::vector<std::int32_t> definers, users;
};

std::vector<VariableEnds> variable_ends(const ProgramGraph& graph) {
  std::vector<VariableEnds> ends(graph.nodes.size());
  const auto is_variable = [&](std::int32_t node) {
    return graph.nodes[static_cast<std::size_t>(node)].type == NodeType::kVariable;
  };
  for (const Edge& edge : graph.edges) {
    if (edge.flow != Flow::kData) continue;
    if (is_variable(edge.target) && is_instruction(graph, edge.source))
      ends[static_cast<std::size_t>(edge.target)].definers.push_back(edge.source);
    if (is_variable(edge.source) && is_instruction(graph, edge.target))
      ends[static_cast<std::size_t>(edge.source)].users.push_back(edge.target);
  }
  return ends;
}

}  // namespace

ProgramGraph to_cdfg(const ProgramGraph& graph) {
  ProgramGraph out;
  out.name = graph.name;
  out.functions = graph.functions;
  TextTable texts(out);
  std::vector<std::int32_t> number(graph.nodes.size(), -1);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node node = graph.nodes[n];
    if (node.type != NodeType::kInstruction) continue;
    number[n] = static_cast<std::int32_t>(out.nodes.size());
    node.text = texts.code(graph.text(node));
    out.nodes.push_back(node);
    out.source_nodes.push_back(static_cast<std::int32_t>(n));
    if (!graph.full_texts.empty()) out.full_texts.push_back(graph.full_texts[n]);
    if (!graph.values.empty()) out.values.push_back(graph.values[n]);
    if (!graph.statements.empty()) out.statements.push_back(graph.statements[n]);
  }
  const auto join = [&](std::int32_t source, std::int32_t target, Flow flow) {
    out.edges.push_back({number[static_cast<std::size_t>(source)],
                         number[static_cast<std::size_t>(target)], 0, flow});
  };
  for (const Edge& edge : graph.edges)
    if (is_instruction(graph, edge.source) && is_instruction(graph, edge.target))
      join(edge.source, edge.target, edge.flow);
  for (const VariableEnds& ends : variable_ends(graph))
    for (const std::int32_t definer : ends.definers)
      for (const std::int32_t user : ends.users) join(definer, user, Flow::kData);
  return out;
}

}  // namespace omen::loadbalance
