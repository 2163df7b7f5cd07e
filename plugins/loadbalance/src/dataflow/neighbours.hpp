// SPDX-License-Identifier: Apache-2.0
// Neighbour lists of a program graph by flow and direction, and walks along them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

enum class Direction : std::uint8_t { kForward, kBackward };

// For each node the other ends of its edges of one flow, in the order of the edges.
class Neighbours {
 public:
  Neighbours(const ProgramGraph& graph, Flow flow, Direction direction);

  std::span<const std::int32_t> of(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    return {ends_.data() + first_[at], ends_.data() + first_[at + 1]};
  }
  std::size_t size() const { return first_.size() - 1; }
  // Numbers of the edges behind of(node).
  std::span<const std::int32_t> edges_of(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    return {edges_.data() + first_[at], edges_.data() + first_[at + 1]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::int32_t> ends_, edges_;
};

struct Walk {
  std::vector<std::uint8_t> visited;
  std::int64_t last_depth = 0;  // of the last visit
  std::int64_t far_depth = 0;   // of the last visit of a wanted node
  std::int64_t visits = 0;      // a node may be visited more than once, see below
};

// Breadth-first from `root`, whose depth is `first_depth`, along all the lists. Nodes are marked
// when they are visited, not when they are queued, so one may be visited again a step later; visits
// of a node at one depth count once unless `every_visit` is set, which stops at a million visits.
// `wanted` may be null.
Walk walk(const std::vector<const Neighbours*>& lists, std::int32_t root, std::int64_t first_depth,
          const std::vector<std::uint8_t>* wanted = nullptr, bool every_visit = false);

// Depth of every node in a plain breadth-first walk from several starts (depth 0); -1 where it does
// not come. The walk does not enter `blocked`.
std::vector<std::int32_t> distances(const Neighbours& list, const std::vector<std::int32_t>& starts,
                                    std::int32_t blocked = -1);

}  // namespace omen::loadbalance
