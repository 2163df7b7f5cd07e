// SPDX-License-Identifier: Apache-2.0
// Order-free digests of program graphs, by the rule that published golden values follow.
#include "graph/digest.hpp"

#include <algorithm>

namespace omen::loadbalance {
namespace {

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

std::string digest_of_sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  std::string joined;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) joined += '\n';
    joined += lines[i];
  }
  return hex(fnv1a(joined));
}

std::vector<std::string> node_lines(const ProgramGraph& graph) {
  std::vector<std::string> lines;
  lines.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes)
    lines.push_back(std::to_string(static_cast<int>(node.type)) + "\t" +
                    std::string(graph.text(node)));
  return lines;
}

// One round: every node takes up the states of its neighbours.
std::vector<std::string> next_states(const ProgramGraph& graph,
                                     const std::vector<std::string>& states) {
  std::vector<std::vector<std::string>> lines(states.size());
  for (const Edge& edge : graph.edges) {
    const std::string label = "\t" + std::to_string(static_cast<int>(edge.flow)) + "\t" +
                              std::to_string(edge.position) + "\t";
    const auto source = static_cast<std::size_t>(edge.source);
    const auto target = static_cast<std::size_t>(edge.target);
    lines[target].push_back("i" + label + states[source]);
    lines[source].push_back("o" + label + states[target]);
  }
  std::vector<std::string> next(states.size());
  for (std::size_t n = 0; n < states.size(); ++n) {
    std::sort(lines[n].begin(), lines[n].end());
    std::string joined = states[n];
    for (const std::string& line : lines[n]) joined += "\n" + line;
    next[n] = hex(fnv1a(joined));
  }
  return next;
}

}  // namespace

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

std::string node_text_digest(const ProgramGraph& graph) {
  return digest_of_sorted(node_lines(graph));
}

std::string structure_digest(const ProgramGraph& graph) {
  std::vector<std::string> states = node_lines(graph);
  for (std::string& state : states) state = hex(fnv1a(state));
  for (int round = 0; round < 3; ++round) states = next_states(graph, states);
  return digest_of_sorted(std::move(states));
}

}  // namespace omen::loadbalance
