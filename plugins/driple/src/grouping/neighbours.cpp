// SPDX-License-Identifier: Apache-2.0
// Sorting pairs into rows, and walking connected parts without recursion.
#include "grouping/neighbours.hpp"

#include <algorithm>

namespace omen::driple {

Neighbours::Neighbours(std::int32_t nodes, const std::vector<Pair>& pairs)
    : begin_(static_cast<std::size_t>(nodes) + 1, 0) {
  std::vector<Pair> both;
  both.reserve(2 * pairs.size());
  for (const auto& [a, b] : pairs) {
    if (a == b) continue;
    both.emplace_back(a, b);
    both.emplace_back(b, a);
  }
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  of_.reserve(both.size());
  for (const auto& [a, b] : both) {
    ++begin_[static_cast<std::size_t>(a) + 1];
    of_.push_back(b);
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
}

std::vector<std::int32_t> largest_component(const Neighbours& graph) {
  std::vector<bool> seen(static_cast<std::size_t>(graph.size()), false);
  std::vector<std::int32_t> best, part;
  for (std::int32_t start = 0; start < graph.size(); ++start) {
    if (seen[static_cast<std::size_t>(start)] || graph[start].empty()) continue;
    part.assign(1, start);
    seen[static_cast<std::size_t>(start)] = true;
    for (std::size_t next = 0; next < part.size(); ++next)
      for (const std::int32_t other : graph[part[next]])
        if (!seen[static_cast<std::size_t>(other)]) {
          seen[static_cast<std::size_t>(other)] = true;
          part.push_back(other);
        }
    if (part.size() > best.size()) best.swap(part);
  }
  std::sort(best.begin(), best.end());
  return best;
}

Neighbours induced(const Neighbours& graph, const std::vector<std::int32_t>& kept) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(graph.size()), -1);
  for (std::size_t i = 0; i < kept.size(); ++i)
    place[static_cast<std::size_t>(kept[i])] = static_cast<std::int32_t>(i);
  std::vector<Pair> pairs;
  for (const std::int32_t node : kept)
    for (const std::int32_t other : graph[node]) {
      const std::int32_t to = place[static_cast<std::size_t>(other)];
      if (other > node && to >= 0) pairs.emplace_back(place[static_cast<std::size_t>(node)], to);
    }
  return Neighbours(static_cast<std::int32_t>(kept.size()), pairs);
}

}  // namespace omen::driple
