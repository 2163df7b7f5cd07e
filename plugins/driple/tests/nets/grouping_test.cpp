// SPDX-License-Identifier: Apache-2.0
// Communities, components and the features of groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "grouping/fluid_communities.hpp"
#include "grouping/grouped_graph.hpp"
#include "omen/learn/random.hpp"

namespace omen::driple {
namespace {

using ::testing::ElementsAre;

// A chain with random shortcuts: connected, and as sparse as op graphs.
std::vector<Pair> chain(std::int32_t nodes, std::uint64_t seed) {
  learn::Random random(seed);
  std::vector<Pair> edges;
  for (std::int32_t i = 1; i < nodes; ++i) {
    edges.emplace_back(i - 1, i);
    if (random.below(3) == 0)
      edges.emplace_back(i, static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(i))));
  }
  return edges;
}

TEST(NeighboursTest, KeepsEachNeighbourOnceAndNoLoops) {
  const Neighbours graph(4, {{0, 1}, {1, 0}, {0, 1}, {2, 2}, {1, 2}});
  EXPECT_THAT(graph[1], ElementsAre(0, 2));
  EXPECT_TRUE(graph[3].empty());
  EXPECT_EQ(graph.edges(), 2);
}

TEST(NeighboursTest, FindsTheLargestComponentWithoutLonelyNodes) {
  const Neighbours graph(7, {{5, 6}, {1, 2}, {2, 4}});
  EXPECT_THAT(largest_component(graph), ElementsAre(1, 2, 4));
  EXPECT_TRUE(largest_component(Neighbours(3, {})).empty());
}

TEST(FluidCommunitiesTest, PartitionsEveryGraphIntoKGroupsThatAreNeverEmpty) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Neighbours graph(500, chain(500, seed));
    const std::vector<std::int32_t> community = fluid_communities(graph, 100, seed);
    EXPECT_EQ(std::set<std::int32_t>(community.begin(), community.end()).size(), 100U);
    EXPECT_EQ(*std::min_element(community.begin(), community.end()), 0);
  }
}

TEST(FluidCommunitiesTest, FollowsFromTheSeed) {
  const Neighbours graph(300, chain(300, 1));
  EXPECT_EQ(fluid_communities(graph, 20, 42), fluid_communities(graph, 20, 42));
  EXPECT_NE(fluid_communities(graph, 20, 42), fluid_communities(graph, 20, 43));
}

TEST(FluidCommunitiesTest, SeparatesTwoCliquesThatOneEdgeJoins) {
  std::vector<Pair> edges = {{0, 10}};
  for (std::int32_t side = 0; side < 20; side += 10)
    for (std::int32_t a = side; a < side + 10; ++a)
      for (std::int32_t b = side; b < a; ++b) edges.emplace_back(a, b);
  // Where both communities start in one clique they may share it; most seeds separate the two.
  int separated = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::int32_t> c = fluid_communities(Neighbours(20, edges), 2, seed);
    const bool whole = std::set<std::int32_t>(c.begin(), c.begin() + 10).size() == 1 &&
                       std::set<std::int32_t>(c.begin() + 10, c.end()).size() == 1;
    separated += whole && c.front() != c.back() ? 1 : 0;
  }
  EXPECT_GE(separated, 10);
}

TEST(FluidCommunitiesTest, ReachesTheEndOfAPathWithinFewSweeps) {
  std::vector<Pair> path;
  for (std::int32_t i = 1; i < 2000; ++i) path.emplace_back(i - 1, i);
  const std::vector<std::int32_t> community = fluid_communities(Neighbours(2000, path), 2, 1, 2);
  for (const std::int32_t c : community) EXPECT_GE(c, 0);
}

TEST(GroupedGraphTest, PreservesSumsOfFeatures) {
  const std::int32_t count = 400;
  std::vector<RawOp> ops;
  for (std::int32_t i = 0; i < count; ++i) ops.push_back({double(i % 7) * 1e4, 0.25});
  const GroupedGraph graph = group_graph(ops, chain(count, 3), 100, 42);
  ASSERT_EQ(graph.size(), 100);
  std::array<double, kGroupFeatures> sum = {};
  for (const auto& feature : graph.features)
    for (std::size_t k = 0; k < kGroupFeatures; ++k) sum[k] += double(feature[k]);
  double sizes = 0;
  for (const RawOp& op : ops) sizes += op.tensor_size;
  EXPECT_NEAR(sum[0], sizes, 1e-6 * sizes);
  EXPECT_DOUBLE_EQ(sum[1], count);
  EXPECT_NEAR(sum[2], count * 0.25, 1e-3);
  for (const auto& [a, b] : graph.edges) EXPECT_LT(a, b);
}

TEST(GroupedGraphTest, SmallGraphsKeepEveryOperationApart) {
  const GroupedGraph graph =
      group_graph({{5, 0}, {6, 0}, {7, 0}, {8, 0}}, {{2, 0}, {0, 3}}, 100, 1);
  ASSERT_EQ(graph.size(), 3);
  EXPECT_FLOAT_EQ(graph.features[1][0], 7);
  EXPECT_THAT(graph.edges, ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_EQ(graph.left_out, 1);
}

TEST(GroupedGraphTest, IsEmptyWhereNoTwoOperationsAreJoined) {
  const GroupedGraph graph = group_graph({{5, 0}, {6, 0}}, {}, 100, 1);
  EXPECT_EQ(graph.size(), 0);
  EXPECT_EQ(graph.left_out, 2);
}

TEST(TensorSizeTest, UnknownDimensionsRestartTheProduct) {
  const auto size = [](std::vector<std::int64_t> dims) {
    return tensor_size_of(dims.data(), dims.size());
  };
  EXPECT_DOUBLE_EQ(size({-1, 7, 7, 64}), 3136);
  EXPECT_DOUBLE_EQ(size({64, -1, 3}), 3);
  EXPECT_DOUBLE_EQ(size({}), 0);
  EXPECT_DOUBLE_EQ(size({2, 3}), 6);
}

}  // namespace
}  // namespace omen::driple
