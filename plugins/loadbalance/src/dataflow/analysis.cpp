// SPDX-License-Identifier: Apache-2.0
// Reachability, data dependence and subexpressions; the choice of an analysis and of its roots.
#include "dataflow/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "dataflow/analyses.hpp"
#include "dataflow/neighbours.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {

Analysis analysis_named(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kAnalysisNames.size(); ++i) {
    if (name == kAnalysisNames[i]) return static_cast<Analysis>(i);
    known += (i ? ", " : "") + std::string(kAnalysisNames[i]);
  }
  throw Error(OMEN_INVALID_ARGUMENT, "unknown analysis '" + std::string(name) + "'",
              "Use one of " + known + ".");
}

void expect_root(const ProgramGraph& graph, std::int32_t root, NodeType type) {
  const bool inside = root > 0 && static_cast<std::size_t>(root) < graph.nodes.size();
  if (inside && graph.nodes[static_cast<std::size_t>(root)].type == type) return;
  throw Error(OMEN_INVALID_ARGUMENT,
              "node " + std::to_string(root) + " of '" + graph.name + "' cannot be the root",
              std::string("This analysis starts at a node of type ") +
                  kNodeTypeNames[static_cast<std::size_t>(type)] + ".");
}

std::vector<std::int32_t> nodes_of_type(const ProgramGraph& graph, NodeType type) {
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 1; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].type == type) nodes.push_back(static_cast<std::int32_t>(i));
  return nodes;
}

std::int64_t count_labels(const std::vector<std::uint8_t>& value) {
  return std::count(value.begin(), value.end(), std::uint8_t{1});
}

namespace {

// Distances of labelled nodes from the root; 0 for the others.
std::vector<std::int32_t> steps_to_labels(const Neighbours& list, std::int32_t root,
                                          const std::vector<std::uint8_t>& value) {
  std::vector<std::int32_t> steps = distances(list, {root});
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!value[i]) steps[i] = 0;
  return steps;
}

class Reachability final : public DataFlow {
 public:
  Reachability(const ProgramGraph& graph, Mode mode)
      : graph_(graph), mode_(mode), control_(graph, Flow::kControl, Direction::kForward) {}

  std::vector<std::int32_t> roots() const override {
    return nodes_of_type(graph_, NodeType::kInstruction);
  }

  Labels run(std::int32_t root) const override {
    expect_root(graph_, root, NodeType::kInstruction);
    const bool compat = mode_ == Mode::kCompat;
    Walk reached = walk({&control_}, root, 1, nullptr, compat);
    Labels labels{std::move(reached.visited), reached.last_depth, 0, {}, {}};
    labels.active = compat ? reached.visits : count_labels(labels.value);
    if (!compat) labels.known = steps_to_labels(control_, root, labels.value);
    return labels;
  }

 private:
  const ProgramGraph& graph_;
  Mode mode_;
  Neighbours control_;
};

class Datadep final : public DataFlow {
 public:
  explicit Datadep(const ProgramGraph& graph)
      : graph_(graph), sources_(graph, Flow::kData, Direction::kBackward) {}

  std::vector<std::int32_t> roots() const override {
    return nodes_of_type(graph_, NodeType::kVariable);
  }

  // The walk itself may start anywhere; only variables are drawn as roots.
  Labels run(std::int32_t root) const override {
    if (root <= 0 || static_cast<std::size_t>(root) >= graph_.nodes.size())
      expect_root(graph_, root, NodeType::kVariable);
    Walk reached = walk({&sources_}, root, 0);
    Labels labels{std::move(reached.visited), reached.last_depth, 0, {}, {}};
    for (std::size_t i = 0; i < labels.value.size(); ++i)
      if (graph_.nodes[i].type != NodeType::kInstruction) labels.value[i] = 0;
    labels.active = count_labels(labels.value);
    labels.known = steps_to_labels(sources_, root, labels.value);
    return labels;
  }

 private:
  const ProgramGraph& graph_;
  Neighbours sources_;
};

bool commutes(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kNames = {"add", "fadd", "mul", "fmul",
                                                             "or",  "and",  "xor"};
  return std::find(kNames.begin(), kNames.end(), text) != kNames.end();
}

// Two instructions compute the same when text and operand nodes agree, the operands in the order of
// their positions, or in any order where the operation commutes.
class Subexpressions final : public DataFlow {
 public:
  explicit Subexpressions(const ProgramGraph& graph)
      : graph_(graph),
        operands_(graph, Flow::kData, Direction::kBackward),
        set_of_(graph.nodes.size(), -1) {
    std::map<std::pair<std::int32_t, std::vector<std::int32_t>>, std::int32_t> sets;
    for (const std::int32_t node : nodes_of_type(graph, NodeType::kInstruction)) {
      std::vector<std::int32_t> key = ordered_operands(node);
      if (key.empty()) continue;
      const std::int32_t text = graph.nodes[static_cast<std::size_t>(node)].text;
      const auto [at, fresh] =
          sets.try_emplace({text, std::move(key)}, static_cast<std::int32_t>(members_.size()));
      if (fresh) members_.emplace_back();
      members_[static_cast<std::size_t>(at->second)].push_back(node);
      set_of_[static_cast<std::size_t>(node)] = at->second;
    }
  }

  std::vector<std::int32_t> roots() const override {
    std::vector<std::int32_t> shared;
    for (const std::int32_t node : nodes_of_type(graph_, NodeType::kInstruction)) {
      const std::int32_t set = set_of_[static_cast<std::size_t>(node)];
      if (set >= 0 && members_[static_cast<std::size_t>(set)].size() > 1) shared.push_back(node);
    }
    return shared;
  }

  Labels run(std::int32_t root) const override {
    expect_root(graph_, root, NodeType::kInstruction);
    Labels labels{std::vector<std::uint8_t>(graph_.nodes.size(), 0), 2, 0, {}, {}};
    const std::int32_t set = set_of_[static_cast<std::size_t>(root)];
    if (set < 0)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "node " + std::to_string(root) + " of '" + graph_.name + "' has no operands");
    for (const std::int32_t node : members_[static_cast<std::size_t>(set)])
      labels.value[static_cast<std::size_t>(node)] = 1;
    labels.active = count_labels(labels.value);
    labels.known.assign(labels.value.begin(), labels.value.end());
    for (std::int32_t& steps : labels.known) steps *= 2;                  // to an operand and back
    labels.waves = {std::vector<std::int32_t>(graph_.nodes.size(), -1)};  // operands of the root
    for (const std::int32_t operand : operands_.of(root))
      labels.waves[0][static_cast<std::size_t>(operand)] = 1;
    return labels;
  }

 private:
  std::vector<std::int32_t> ordered_operands(std::int32_t node) const {
    std::vector<std::pair<std::int32_t, std::int32_t>> keyed;  // order, operand
    const auto ends = operands_.of(node);
    const auto edges = operands_.edges_of(node);
    const bool any_order = commutes(graph_.text(graph_.nodes[static_cast<std::size_t>(node)]));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const Edge& edge = graph_.edges[static_cast<std::size_t>(edges[i])];
      keyed.emplace_back(any_order ? ends[i] : edge.position, ends[i]);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::int32_t> ordered;
    for (const auto& [order, operand] : keyed) ordered.push_back(operand);
    return ordered;
  }

  const ProgramGraph& graph_;
  Neighbours operands_;
  std::vector<std::int32_t> set_of_;  // number of the node's set; -1: no expression
  std::vector<std::vector<std::int32_t>> members_;
};

}  // namespace

std::unique_ptr<DataFlow> make_analysis(Analysis analysis, const ProgramGraph& graph, Mode mode) {
  switch (analysis) {
    case Analysis::kReachability:
      return std::make_unique<Reachability>(graph, mode);
    case Analysis::kDominance:
      return make_dominance(graph, mode);
    case Analysis::kLiveness:
      return make_liveness(graph, mode);
    case Analysis::kSubexpressions:
      if (mode == Mode::kExact) return std::make_unique<Subexpressions>(graph);
      break;
    case Analysis::kDatadep:
      break;
  }
  return std::make_unique<Datadep>(graph);
}

namespace {
// Steele, Lea and Flood's generator (doi:10.1145/2714064.2660195): the same draws everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
}  // namespace

std::vector<std::int32_t> sample_roots(const std::vector<std::int32_t>& roots, std::int64_t limit,
                                       std::uint64_t seed, double share) {
  std::vector<std::int32_t> drawn = roots;
  const double wanted = std::ceil(static_cast<double>(roots.size()) * share - 1e-9);
  const auto count = static_cast<std::size_t>(
      std::clamp(wanted, 0.0, static_cast<double>(std::max<std::int64_t>(limit, 0))));
  for (std::size_t i = 0; i < count; ++i)
    std::swap(drawn[i], drawn[i + next_random(seed) % (drawn.size() - i)]);
  drawn.resize(count);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace omen::loadbalance
