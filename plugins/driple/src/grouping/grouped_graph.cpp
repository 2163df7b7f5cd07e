// SPDX-License-Identifier: Apache-2.0
// Sums over communities, and which of them touch.
#include "grouping/grouped_graph.hpp"

#include <algorithm>

#include "grouping/fluid_communities.hpp"

namespace omen::driple {
namespace {

std::vector<Pair> touching(const Neighbours& graph, const std::vector<std::int32_t>& community) {
  std::vector<Pair> edges;
  for (std::int32_t node = 0; node < graph.size(); ++node)
    for (const std::int32_t other : graph[node]) {
      const std::int32_t a = community[static_cast<std::size_t>(node)];
      const std::int32_t b = community[static_cast<std::size_t>(other)];
      if (a < b) edges.emplace_back(a, b);
    }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

GroupedGraph group_graph(const std::vector<RawOp>& ops, const std::vector<Pair>& edges,
                         std::int32_t groups, std::uint64_t seed) {
  const Neighbours all(static_cast<std::int32_t>(ops.size()), edges);
  const std::vector<std::int32_t> kept = largest_component(all);
  const Neighbours graph = induced(all, kept);
  const std::vector<std::int32_t> community = fluid_communities(graph, groups, seed);

  const auto count = static_cast<std::size_t>(std::min(graph.size(), groups));
  std::vector<std::array<double, kGroupFeatures>> sums(count, {0, 0, 0});
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const RawOp& op = ops[static_cast<std::size_t>(kept[i])];
    auto& sum = sums[static_cast<std::size_t>(community[i])];
    sum[0] += op.tensor_size;
    sum[1] += 1;
    sum[2] += op.frequency;
  }
  GroupedGraph out;
  for (const auto& sum : sums)
    out.features.push_back(
        {static_cast<float>(sum[0]), static_cast<float>(sum[1]), static_cast<float>(sum[2])});
  out.edges = touching(graph, community);
  out.operations = static_cast<std::int64_t>(kept.size());
  out.left_out = static_cast<std::int64_t>(ops.size()) - out.operations;
  return out;
}

double tensor_size_of(const std::int64_t* dims, std::size_t rank) {
  double size = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (size == 0) size = 1;
    size = dims[i] < 0 ? 0 : size * static_cast<double>(dims[i]);
  }
  return size;
}

}  // namespace omen::driple
