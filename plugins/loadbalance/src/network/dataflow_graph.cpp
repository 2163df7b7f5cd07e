// SPDX-License-Identifier: Apache-2.0
// A program graph as the data-flow network reads it: the edges that it follows, and the nodes on
// them apart from the others.
#include "network/dataflow_graph.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "omen/error.hpp"

namespace omen::loadbalance {

namespace {

Relation parse_relation(const std::string& name) {
  static constexpr std::array<std::pair<const char*, Relation>, 4> kNames = {
      {{"control", {Flow::kControl, false, false}},
       {"data", {Flow::kData, false, false}},
       {"call", {Flow::kCall, false, false}},
       {"skip", {Flow::kControl, false, true}}}};
  for (const auto& [known, relation] : kNames)
    for (const bool backward : {false, true})
      if (name == known + std::string(backward ? "-back" : ""))
        return {relation.flow, backward, relation.skips};
  throw Error(OMEN_INVALID_ARGUMENT, "unknown edges '" + name + "'",
              "Use auto, all, or a list of control, data, call and skip, each also with -back.");
}

// The instruction that alone follows each one and has no other before it; -1: none.
std::vector<std::int32_t> only_next(const ProgramGraph& graph) {
  constexpr std::int32_t kNone = -1, kSeveral = -2;
  std::vector<std::int32_t> next(graph.nodes.size(), kNone), before(graph.nodes.size(), kNone);
  const auto note = [](std::int32_t& at, std::int32_t node) { at = at == kNone ? node : kSeveral; };
  for (const Edge& edge : graph.edges) {
    if (edge.flow != Flow::kControl) continue;
    note(next[static_cast<std::size_t>(edge.source)], edge.target);
    note(before[static_cast<std::size_t>(edge.target)], edge.source);
  }
  for (std::int32_t& node : next)
    if (node < 0 || before[static_cast<std::size_t>(node)] < 0) node = kNone;
  return next;
}

std::vector<Edge> skip_edges(const ProgramGraph& graph) {
  constexpr std::int32_t kDoublings = 6;
  std::vector<Edge> edges;
  std::vector<std::int32_t> jump = only_next(graph);
  for (std::int32_t level = 0; level < kDoublings; ++level) {
    std::vector<std::int32_t> twice(jump.size(), -1);
    for (std::size_t i = 0; i < jump.size(); ++i) {
      if (jump[i] >= 0) twice[i] = jump[static_cast<std::size_t>(jump[i])];
      if (twice[i] >= 0)
        edges.push_back({static_cast<std::int32_t>(i), twice[i], 0, Flow::kControl});
    }
    jump = std::move(twice);
  }
  return edges;
}

}  // namespace

std::vector<Relation> parse_relations(const std::string& names) {
  if (names == "all") return parse_relations("control,data,call,control-back,data-back,call-back");
  std::vector<Relation> relations;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    relations.push_back(parse_relation(names.substr(at, end - at)));
    at = end + 1;
  }
  return relations;
}

const char* usual_relations(Analysis analysis) {
  switch (analysis) {
    case Analysis::kReachability:
      return "control";
    case Analysis::kDominance:
      return "control,call";
    case Analysis::kDatadep:
      return "data-back";
    case Analysis::kLiveness:
      return "control,skip,data,data-back";
    case Analysis::kSubexpressions:
      break;
  }
  return "data,data-back";
}

DataflowGraph dataflow_graph(const ProgramGraph& graph, const std::vector<Relation>& relations,
                             const torch_kit::Vocabulary& words) {
  DataflowGraph made;
  std::vector<std::int32_t> row(graph.nodes.size(), -1);
  const auto follows = [&](const Edge& edge) {
    return std::any_of(relations.begin(), relations.end(),
                       [&](const Relation& r) { return r.flow == edge.flow; });
  };
  for (const Edge& edge : graph.edges)
    if (follows(edge))
      row[static_cast<std::size_t>(edge.source)] = row[static_cast<std::size_t>(edge.target)] = 0;
  for (const bool active : {true, false}) {
    for (std::size_t node = 0; node < row.size(); ++node)
      if ((row[node] >= 0) == active) made.nodes.push_back(static_cast<std::int32_t>(node));
    if (active) made.active = static_cast<std::int64_t>(made.nodes.size());
  }
  std::vector<std::int32_t> token_of_text(graph.texts.size());
  for (std::size_t i = 0; i < graph.texts.size(); ++i)
    token_of_text[i] = static_cast<std::int32_t>(words.id(graph.texts[i]));
  for (std::size_t i = 0; i < made.nodes.size(); ++i) {
    const auto node = static_cast<std::size_t>(made.nodes[i]);
    row[node] = static_cast<std::int32_t>(i);
    made.tokens.push_back(token_of_text[static_cast<std::size_t>(graph.nodes[node].text)]);
  }
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const bool backward = relations[r].backward;
    for (const Edge& edge : relations[r].skips ? skip_edges(graph) : graph.edges) {
      if (edge.flow != relations[r].flow) continue;
      const std::int32_t from = row[static_cast<std::size_t>(edge.source)];
      const std::int32_t to = row[static_cast<std::size_t>(edge.target)];
      made.edges.push(backward ? to : from, backward ? from : to, static_cast<std::int32_t>(r),
                      std::min(edge.position, nn::kMaxPosition));
    }
  }
  return made;
}

}  // namespace omen::loadbalance
