// SPDX-License-Identifier: Apache-2.0
// One sweep visits all nodes in random order; it ends after a sweep without a move.
#include "grouping/fluid_communities.hpp"

#include <algorithm>
#include <numeric>

#include "omen/learn/random.hpp"

namespace omen::driple {
namespace {

constexpr std::int32_t kNone = -1;
constexpr double kTie = 1e-4;  // sums that are this close are equal

class Fluids {
 public:
  Fluids(const Neighbours& graph, std::int32_t k, std::uint64_t seed)
      : graph_(graph),
        random_(seed),
        community_(static_cast<std::size_t>(graph.size()), kNone),
        members_(static_cast<std::size_t>(k), 1),
        sum_(static_cast<std::size_t>(k), 0.0) {
    const std::vector<std::ptrdiff_t> order = random_.permutation(graph.size());
    for (std::int32_t c = 0; c < k; ++c)
      community_[static_cast<std::size_t>(order[static_cast<std::size_t>(c)])] = c;
  }

  // Whether any node moved.
  bool sweep() {
    bool moved = false;
    for (const std::ptrdiff_t node : random_.permutation(graph_.size()))
      moved = visit(static_cast<std::int32_t>(node)) || moved;
    return moved;
  }

  // Nodes that no fluid reached within the sweeps join their first neighbour that has one.
  void settle() {
    for (bool open = true; open;) {
      open = false;
      for (std::int32_t node = 0; node < graph_.size(); ++node) {
        std::int32_t& own = community_[static_cast<std::size_t>(node)];
        for (const std::int32_t other : graph_[node])
          if (own == kNone) own = community_[static_cast<std::size_t>(other)];
        open = open || own == kNone;
      }
    }
  }

  std::vector<std::int32_t> take() { return std::move(community_); }

 private:
  void add_density(std::int32_t community) {
    if (community == kNone) return;
    const auto c = static_cast<std::size_t>(community);
    if (sum_[c] == 0) touched_.push_back(community);
    sum_[c] += 1.0 / static_cast<double>(members_[c]);
  }

  bool visit(std::int32_t node) {
    std::int32_t& own = community_[static_cast<std::size_t>(node)];
    add_density(own);
    for (const std::int32_t other : graph_[node])
      add_density(community_[static_cast<std::size_t>(other)]);
    double most = 0;
    for (const std::int32_t c : touched_) most = std::max(most, sum_[static_cast<std::size_t>(c)]);
    best_.clear();
    for (const std::int32_t c : touched_) {
      if (most - sum_[static_cast<std::size_t>(c)] < kTie) best_.push_back(c);
      sum_[static_cast<std::size_t>(c)] = 0;
    }
    touched_.clear();
    if (best_.empty() || std::find(best_.begin(), best_.end(), own) != best_.end()) return false;
    if (own != kNone) --members_[static_cast<std::size_t>(own)];
    own = best_[random_.below(best_.size())];
    ++members_[static_cast<std::size_t>(own)];
    return true;
  }

  const Neighbours& graph_;
  learn::Random random_;
  std::vector<std::int32_t> community_;
  std::vector<std::int64_t> members_;
  std::vector<double> sum_;            // of densities around the node in hand
  std::vector<std::int32_t> touched_;  // communities with a sum, as they were met
  std::vector<std::int32_t> best_;
};

}  // namespace

std::vector<std::int32_t> fluid_communities(const Neighbours& graph, std::int32_t k,
                                            std::uint64_t seed, int most_sweeps) {
  if (graph.size() <= k) {
    std::vector<std::int32_t> own(static_cast<std::size_t>(graph.size()));
    std::iota(own.begin(), own.end(), 0);
    return own;
  }
  Fluids fluids(graph, k, seed);
  for (int sweep = 0; sweep < most_sweeps && fluids.sweep(); ++sweep) {
  }
  fluids.settle();
  return fluids.take();
}

}  // namespace omen::driple
