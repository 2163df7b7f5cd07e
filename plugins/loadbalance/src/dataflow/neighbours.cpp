// SPDX-License-Identifier: Apache-2.0
// Neighbour lists of a program graph by flow and direction, and walks along them.
#include "dataflow/neighbours.hpp"

#include <queue>
#include <utility>

namespace omen::loadbalance {

namespace {
constexpr std::int64_t kMostVisits = 1'000'000;
}

Neighbours::Neighbours(const ProgramGraph& graph, Flow flow, Direction direction)
    : first_(graph.nodes.size() + 1, 0) {
  const bool forward = direction == Direction::kForward;
  const auto owner = [&](const Edge& e) {
    return static_cast<std::size_t>(forward ? e.source : e.target);
  };
  for (const Edge& edge : graph.edges)
    if (edge.flow == flow) ++first_[owner(edge) + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  ends_.resize(first_.back());
  edges_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const Edge& edge = graph.edges[i];
    if (edge.flow != flow) continue;
    const std::size_t slot = next[owner(edge)]++;
    ends_[slot] = forward ? edge.target : edge.source;
    edges_[slot] = static_cast<std::int32_t>(i);
  }
}

Walk walk(const std::vector<const Neighbours*>& lists, std::int32_t root, std::int64_t first_depth,
          const std::vector<std::uint8_t>* wanted, bool every_visit) {
  Walk result;
  result.visited.assign(lists.front()->size(), 0);
  std::vector<std::int64_t> queued(result.visited.size(), -1);  // depth of the last time
  std::queue<std::pair<std::int32_t, std::int64_t>> waiting;
  waiting.emplace(root, first_depth);
  while (!waiting.empty() && result.visits < kMostVisits) {
    const auto [node, depth] = waiting.front();
    waiting.pop();
    ++result.visits;
    result.last_depth = depth;
    result.visited[static_cast<std::size_t>(node)] = 1;
    if (wanted && (*wanted)[static_cast<std::size_t>(node)]) result.far_depth = depth;
    for (const Neighbours* list : lists)
      for (const std::int32_t next : list->of(node)) {
        const auto at = static_cast<std::size_t>(next);
        if (result.visited[at] || (!every_visit && queued[at] == depth + 1)) continue;
        queued[at] = depth + 1;
        waiting.emplace(next, depth + 1);
      }
  }
  return result;
}

std::vector<std::int32_t> distances(const Neighbours& list, const std::vector<std::int32_t>& starts,
                                    std::int32_t blocked) {
  std::vector<std::int32_t> depth(list.size(), -1);
  std::vector<std::int32_t> order;
  const auto enter = [&](std::int32_t node, std::int32_t at_depth) {
    if (node == blocked || depth[static_cast<std::size_t>(node)] >= 0) return;
    depth[static_cast<std::size_t>(node)] = at_depth;
    order.push_back(node);
  };
  for (const std::int32_t start : starts) enter(start, 0);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::int32_t next : list.of(order[i]))
      enter(next, depth[static_cast<std::size_t>(order[i])] + 1);
  return depth;
}

}  // namespace omen::loadbalance
