// SPDX-License-Identifier: Apache-2.0
// Undirected graphs as compressed rows: every neighbour once, no node beside itself.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace omen::driple {

using Pair = std::pair<std::int32_t, std::int32_t>;

class Neighbours {
 public:
  Neighbours() : begin_{0} {}
  // Pairs may come in either direction and repeatedly; both ends are below `nodes`.
  Neighbours(std::int32_t nodes, const std::vector<Pair>& pairs);

  std::int32_t size() const { return static_cast<std::int32_t>(begin_.size()) - 1; }
  std::int64_t edges() const { return static_cast<std::int64_t>(of_.size()) / 2; }
  std::span<const std::int32_t> operator[](std::int32_t node) const {
    const auto i = static_cast<std::size_t>(node);
    return {of_.data() + begin_[i], of_.data() + begin_[i + 1]};
  }

 private:
  std::vector<std::int64_t> begin_;  // [nodes + 1]
  std::vector<std::int32_t> of_;     // ascending within a node
};

// The nodes of the largest connected part with at least two nodes, ascending; of parts of one size
// the one with the first node. Empty where no two nodes are joined.
std::vector<std::int32_t> largest_component(const Neighbours& graph);

// The graph among `kept` nodes (ascending), numbered by their place in it.
Neighbours induced(const Neighbours& graph, const std::vector<std::int32_t>& kept);

}  // namespace omen::driple
