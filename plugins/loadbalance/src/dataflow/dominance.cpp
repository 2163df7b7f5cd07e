// SPDX-License-Identifier: Apache-2.0
// Which instructions the root dominates: control comes to them only through it.
#include <algorithm>
#include <string>
#include <utility>

#include "dataflow/analyses.hpp"
#include "dataflow/neighbours.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

constexpr std::int64_t kMostChanges = 1000;

// The root and constants count as nodes of the first function in the original graphs.
std::int32_t function_of(const Node& node) {
  return std::max(node.function, 0);
}

class Dominance : public DataFlow {
 public:
  explicit Dominance(const ProgramGraph& graph)
      : graph_(graph),
        next_(graph, Flow::kControl, Direction::kForward),
        before_(graph, Flow::kControl, Direction::kBackward) {}

  std::vector<std::int32_t> roots() const override {
    return nodes_of_type(graph_, NodeType::kInstruction);
  }

  // A node is dominated when control comes to it from the root, but not from an entry of the
  // function past the root.
  Labels run(std::int32_t root) const override {
    expect_root(graph_, root, NodeType::kInstruction);
    const std::vector<std::int32_t> entries = entries_beside(root);
    const std::vector<std::int32_t> from_root = distances(next_, {root});
    const std::vector<std::int32_t> past_root = distances(next_, entries, root);
    const std::vector<std::int32_t> from_entry = distances(next_, entries);
    Labels labels{std::vector<std::uint8_t>(graph_.nodes.size(), 0), 0, 0, {}, {}};
    labels.known.assign(graph_.nodes.size(), 0);
    for (std::size_t i = 0; i < labels.value.size(); ++i) {
      labels.value[i] = from_root[i] >= 0 && past_root[i] < 0;
      if (from_root[i] >= 0) labels.known[i] = std::max(from_root[i], past_root[i] + 1);
      labels.steps = std::max<std::int64_t>(labels.steps, from_entry[i]);
    }
    labels.active = count_labels(labels.value);
    // Control from any entry past the root; an entry sees in the first step that it is one.
    labels.waves = {from_root, distances(next_, entries_beside(-1), root)};
    for (std::int32_t& step : labels.waves[1])
      if (step >= 0) ++step;
    return labels;
  }

 protected:
  // Instructions of the root's function to which control comes from outside of it only; of all
  // functions where the root is -1. Blocks that cannot be reached begin with one too, but no edge
  // leaves them.
  std::vector<std::int32_t> entries_beside(std::int32_t root) const {
    const std::int32_t function =
        root < 0 ? -1 : function_of(graph_.nodes[static_cast<std::size_t>(root)]);
    std::vector<std::int32_t> entries;
    for (const std::int32_t node : nodes_of_type(graph_, NodeType::kInstruction)) {
      if (root >= 0 && function_of(graph_.nodes[static_cast<std::size_t>(node)]) != function)
        continue;
      const auto before = before_.of(node);
      if (std::all_of(before.begin(), before.end(), [](std::int32_t n) { return n == 0; }))
        entries.push_back(node);
    }
    return entries;
  }

  const ProgramGraph& graph_;
  Neighbours next_, before_;
};

class CompatDominance final : public Dominance {
 public:
  using Dominance::Dominance;

  // Sets of all nodes of the function, variables included, from "all but the root" downwards: the
  // root is added only where every predecessor has it, so never around a loop.
  Labels run(std::int32_t root) const override {
    expect_root(graph_, root, NodeType::kInstruction);
    const std::vector<std::int32_t> members = members_beside(root);
    std::vector<NodeSet> dominators(graph_.nodes.size());
    NodeSet all(graph_.nodes.size());
    for (const std::int32_t node : members) all.add(node);
    all.remove(root);
    for (const std::int32_t node : members) dominators[static_cast<std::size_t>(node)] = all;
    NodeSet own(graph_.nodes.size());
    own.add(root);
    dominators[static_cast<std::size_t>(root)] = own;

    Labels labels{std::vector<std::uint8_t>(graph_.nodes.size(), 0), 0, 0, {}, {}};
    while (sweep(root, members, dominators, labels.steps)) {
    }
    for (const std::int32_t node : members)
      labels.value[static_cast<std::size_t>(node)] =
          dominators[static_cast<std::size_t>(node)].has(root);
    labels.active = count_labels(labels.value);
    return labels;
  }

 private:
  std::vector<std::int32_t> members_beside(std::int32_t root) const {
    const std::int32_t function = function_of(graph_.nodes[static_cast<std::size_t>(root)]);
    std::vector<std::int32_t> members;
    for (std::size_t i = 1; i < graph_.nodes.size(); ++i)
      if (function_of(graph_.nodes[i]) == function) members.push_back(static_cast<std::int32_t>(i));
    return members;
  }

  bool sweep(std::int32_t root, const std::vector<std::int32_t>& members,
             std::vector<NodeSet>& dominators, std::int64_t& changes) const {
    bool changed = false;
    for (const std::int32_t node : members) {
      if (node == root) continue;
      NodeSet fresh = common_dominators(node, dominators);
      fresh.add(node);
      NodeSet& known = dominators[static_cast<std::size_t>(node)];
      if (fresh == known) continue;
      known = std::move(fresh);
      changed = true;
      if (++changes > kMostChanges)
        throw Error(OMEN_INVALID_DATA,
                    "dominators of '" + graph_.name + "' change more than " +
                        std::to_string(kMostChanges) + " times",
                    "The original gives up here; leave compat mode.");
    }
    return changed;
  }

  // A predecessor outside of the function has no dominators.
  NodeSet common_dominators(std::int32_t node, const std::vector<NodeSet>& dominators) const {
    NodeSet common(graph_.nodes.size());
    bool first = true;
    for (const std::int32_t before : before_.of(node)) {
      const NodeSet& other = dominators[static_cast<std::size_t>(before)];
      if (other == NodeSet()) return NodeSet(graph_.nodes.size());
      if (first)
        common = other;
      else
        common.intersect(other);
      first = false;
    }
    return common;
  }
};

}  // namespace

std::unique_ptr<DataFlow> make_dominance(const ProgramGraph& graph, Mode mode) {
  if (mode == Mode::kCompat) return std::make_unique<CompatDominance>(graph);
  return std::make_unique<Dominance>(graph);
}

}  // namespace omen::loadbalance
