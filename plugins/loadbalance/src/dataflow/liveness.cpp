// SPDX-License-Identifier: Apache-2.0
// Which values are live behind an instruction: used on a way on from it before they are redefined.
#include <algorithm>
#include <queue>
#include <string>
#include <utility>

#include "dataflow/analyses.hpp"
#include "dataflow/neighbours.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

class Liveness : public DataFlow {
 public:
  explicit Liveness(const ProgramGraph& graph)
      : graph_(graph),
        next_(graph, Flow::kControl, Direction::kForward),
        before_(graph, Flow::kControl, Direction::kBackward),
        defined_(graph, Flow::kData, Direction::kForward),
        used_(graph, Flow::kData, Direction::kBackward) {}

  // Goes backwards from the uses of each value to its definitions: instructions on the way, and the
  // definitions, have it in their live-out set.
  std::vector<std::int32_t> roots() const override {
    std::vector<std::uint8_t> any(graph_.nodes.size(), 0);
    std::vector<std::int32_t> seen(graph_.nodes.size(), -1);  // last value that came through
    std::vector<std::int32_t> waiting;
    for (std::int32_t value = 0; value < size(); ++value) {
      waiting.clear();
      for (const std::int32_t use : defined_.of(value))
        if (is_instruction(use)) waiting.push_back(use);
      while (!waiting.empty()) {
        const std::int32_t node = waiting.back();
        waiting.pop_back();
        for (const std::int32_t before : before_.of(node)) {
          if (std::exchange(seen[static_cast<std::size_t>(before)], value) == value) continue;
          any[static_cast<std::size_t>(before)] = 1;
          if (!defines(before, value)) waiting.push_back(before);
        }
      }
    }
    std::vector<std::int32_t> nodes = nodes_of_type(graph_, NodeType::kInstruction);
    std::erase_if(nodes, [&](std::int32_t node) { return !any[static_cast<std::size_t>(node)]; });
    return nodes;
  }

  Labels run(std::int32_t root) const override {
    expect_root(graph_, root, NodeType::kInstruction);
    Labels labels{std::vector<std::uint8_t>(graph_.nodes.size(), 0), 0, 0, {}, {}};
    labels.known.assign(graph_.nodes.size(), 0);
    const auto after = next_.of(root);
    const std::vector<std::int32_t> starts(after.begin(), after.end());
    const std::vector<std::int32_t> reached = distances(next_, starts);
    for (std::int32_t node = 0; node < size(); ++node) {
      if (reached[static_cast<std::size_t>(node)] < 0) continue;
      for (const std::int32_t value : used_.of(node)) {
        std::uint8_t& label = labels.value[static_cast<std::size_t>(value)];
        if (!label) label = is_live(starts, reached, value);
        std::int32_t& known = labels.known[static_cast<std::size_t>(value)];
        const std::int32_t steps = reached[static_cast<std::size_t>(node)] + 2;
        known = known ? std::min(known, steps) : steps;
      }
    }
    finish(root, labels);
    labels.waves = {reached};
    for (std::int32_t& step : labels.waves[0])
      if (step >= 0) ++step;  // the walk began behind the root
    return labels;
  }

 protected:
  std::int32_t size() const { return static_cast<std::int32_t>(graph_.nodes.size()); }
  bool is_instruction(std::int32_t node) const {
    return graph_.nodes[static_cast<std::size_t>(node)].type == NodeType::kInstruction;
  }
  bool defines(std::int32_t node, std::int32_t value) const {
    const auto values = defined_.of(node);
    return std::find(values.begin(), values.end(), value) != values.end();
  }
  void finish(std::int32_t root, Labels& labels) const {
    labels.steps = walk({&next_, &defined_}, root, 1, &labels.value).far_depth;
    labels.active = count_labels(labels.value);
  }

  const ProgramGraph& graph_;
  Neighbours next_, before_, defined_, used_;

 private:
  // A reached use answers at once unless a definition is reached as well; then the way has to go
  // round it.
  bool is_live(const std::vector<std::int32_t>& starts, const std::vector<std::int32_t>& reached,
               std::int32_t value) const {
    const auto definitions = used_.of(value);
    if (std::none_of(definitions.begin(), definitions.end(), [&](std::int32_t node) {
          return reached[static_cast<std::size_t>(node)] >= 0;
        }))
      return true;
    std::vector<std::int32_t> waiting = starts;
    std::vector<std::uint8_t> seen(graph_.nodes.size(), 0);
    while (!waiting.empty()) {
      const std::int32_t node = waiting.back();
      waiting.pop_back();
      if (std::exchange(seen[static_cast<std::size_t>(node)], std::uint8_t{1})) continue;
      const auto uses = used_.of(node);
      if (std::find(uses.begin(), uses.end(), value) != uses.end()) return true;
      if (defines(node, value)) continue;
      const auto after = next_.of(node);
      waiting.insert(waiting.end(), after.begin(), after.end());
    }
    return false;
  }
};

// The work-list of the original: it begins at exits, so that functions without one stay empty, and
// queues the predecessors of a node without live values every time.
class CompatLiveness final : public Liveness {
 public:
  explicit CompatLiveness(const ProgramGraph& graph)
      : Liveness(graph),
        live_in_(graph.nodes.size(), NodeSet(graph.nodes.size())),
        live_out_(live_in_) {
    std::queue<std::int32_t> waiting;
    std::vector<std::uint8_t> queued(graph.nodes.size(), 0);
    const auto queue = [&](std::int32_t node) {
      if (std::exchange(queued[static_cast<std::size_t>(node)], std::uint8_t{1})) return;
      waiting.push(node);
    };
    for (std::int32_t node = 0; node < size(); ++node)
      if (is_instruction(node) && next_.of(node).empty()) queue(node);
    const std::int64_t most = std::max<std::int64_t>(2 * std::int64_t{size()}, 5000);
    for (std::int64_t steps = 1; !waiting.empty(); ++steps) {
      if (steps > most)
        throw Error(
            OMEN_INVALID_DATA,
            "liveness of '" + graph.name + "' does not end in " + std::to_string(most) + " steps",
            "The original gives up here; leave compat mode.");
      const std::int32_t node = waiting.front();
      waiting.pop();
      queued[static_cast<std::size_t>(node)] = 0;
      if (!update(node)) continue;
      for (const std::int32_t before : before_.of(node)) queue(before);
    }
  }

  std::vector<std::int32_t> roots() const override {
    std::vector<std::int32_t> nodes;
    for (std::int32_t node = 0; node < size(); ++node)
      if (!live_out_[static_cast<std::size_t>(node)].empty()) nodes.push_back(node);
    return nodes;
  }

  Labels run(std::int32_t root) const override {
    expect_root(graph_, root, NodeType::kInstruction);
    Labels labels{std::vector<std::uint8_t>(graph_.nodes.size(), 0), 0, 0, {}, {}};
    for (std::int32_t node = 0; node < size(); ++node)
      labels.value[static_cast<std::size_t>(node)] =
          live_out_[static_cast<std::size_t>(root)].has(node);
    finish(root, labels);
    return labels;
  }

 private:
  bool update(std::int32_t node) {
    NodeSet out(graph_.nodes.size());
    for (const std::int32_t after : next_.of(node))
      out.unite(live_in_[static_cast<std::size_t>(after)]);
    NodeSet in = out;
    for (const std::int32_t value : defined_.of(node)) in.remove(value);
    for (const std::int32_t value : used_.of(node)) in.add(value);
    live_out_[static_cast<std::size_t>(node)] = std::move(out);
    NodeSet& known = live_in_[static_cast<std::size_t>(node)];
    if (!in.empty() && in == known) return false;
    known = std::move(in);
    return true;
  }

  std::vector<NodeSet> live_in_, live_out_;
};

}  // namespace

std::unique_ptr<DataFlow> make_liveness(const ProgramGraph& graph, Mode mode) {
  if (mode == Mode::kCompat) return std::make_unique<CompatLiveness>(graph);
  return std::make_unique<Liveness>(graph);
}

}  // namespace omen::loadbalance
