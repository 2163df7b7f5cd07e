// SPDX-License-Identifier: Apache-2.0
// Plans hold every edge once in both orders; refinement joins exactly the nodes that look alike.
#include "omen/torch/nn/message_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "omen/error.hpp"
#include "random_graph.hpp"

namespace omen::torch_kit::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MessagePlan, ListsOnlyPairsThatSend) {
  TypedEdges edges;
  edges.push(0, 1, 1, 0);
  edges.push(0, 2, 1, 7);
  edges.push(2, 1, 0, 7);
  const MessagePlan plan = plan_messages(edges, 3, 2);
  EXPECT_THAT(plan.senders, ElementsAre(2, 0));
  EXPECT_THAT(plan.relation_begin, ElementsAre(0, 1, 2));
  EXPECT_THAT(plan.positions, ElementsAre(0, 7));
  EXPECT_THAT(plan.in_begin, ElementsAre(0, 0, 2, 3));
  EXPECT_THAT(plan.in_pair, ElementsAre(1, 0, 1));
  EXPECT_THAT(plan.in_gate, ElementsAre(0, 1, 1));
  EXPECT_THAT(plan.out_begin, ElementsAre(0, 1, 3));
  EXPECT_THAT(plan.out_row, ElementsAre(1, 1, 2));
  EXPECT_THAT(plan.out_gate, ElementsAre(1, 0, 1));
  EXPECT_THAT(plan.inverse_degree, ElementsAre(1.0f, 0.5f, 1.0f));
  EXPECT_THAT(plan.previous, IsEmpty());
}

TEST(MessagePlan, LargePositionsShareTheLastGate) {
  TypedEdges edges;
  edges.push(0, 1, 0, 4095);
  edges.push(0, 1, 0, 100000);
  EXPECT_THAT(plan_messages(edges, 2, 1).positions, ElementsAre(4095));
}

TEST(MessagePlan, RefusesEdgesOutsideOfTheGraph) {
  for (const std::tuple<int, int, int, int>& bad :
       {std::tuple{0, 2, 0, 0}, {-1, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, -1}}) {
    TypedEdges edges;
    edges.push(std::get<0>(bad), std::get<1>(bad), std::get<2>(bad), std::get<3>(bad));
    try {
      plan_messages(edges, 2, 1);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
      EXPECT_THAT(error.what(), HasSubstr("edge 0"));
    }
  }
}

TEST(MessagePlan, AnEmptyGraphIsAPlan) {
  const MessagePlan plan = plan_messages({}, 0, 6);
  EXPECT_EQ(plan.pairs(), 0);
  EXPECT_EQ(plan.edges(), 0);
  EXPECT_THAT(refine({}, {}, 6, 3).steps.size(), 3u);
}

// What refinement should find, by sorted lists in place of hashes.
std::vector<std::int32_t> refine_by_sorting(const RandomGraph& graph,
                                            std::vector<std::int32_t> colour) {
  using Message = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  std::vector<std::vector<Message>> incoming(colour.size());
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    incoming[static_cast<std::size_t>(graph.edges.target[e])].emplace_back(
        graph.edges.relation[e], graph.edges.position[e],
        colour[static_cast<std::size_t>(graph.edges.source[e])]);
  std::map<std::pair<std::int32_t, std::vector<Message>>, std::int32_t> known;
  std::vector<std::int32_t> next;
  for (std::size_t n = 0; n < colour.size(); ++n) {
    std::sort(incoming[n].begin(), incoming[n].end());
    next.push_back(
        known.try_emplace({colour[n], incoming[n]}, static_cast<std::int32_t>(known.size()))
            .first->second);
  }
  return next;
}

TEST(Refinement, JoinsNodesWithEqualNeighbourhoods) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RandomGraph graph(40, 45, seed, 2);
    const RefinedPlan plan = refine(graph.tokens, graph.edges, 6, 3);
    std::map<std::int32_t, std::int32_t> known;
    std::vector<std::int32_t> expected;
    for (const std::int32_t token : graph.tokens)
      expected.push_back(
          known.try_emplace(token, static_cast<std::int32_t>(known.size())).first->second);
    EXPECT_EQ(plan.row_of[0], expected);
    for (std::size_t level = 1; level <= 3; ++level) {
      expected = refine_by_sorting(graph, expected);
      EXPECT_EQ(plan.row_of[level], expected) << "level " << level << ", seed " << seed;
      const MessagePlan& step = plan.steps[level - 1];
      EXPECT_EQ(step.rows_out, 1 + *std::max_element(expected.begin(), expected.end()));
    }
  }
}

TEST(Refinement, DigestsDoNotDependOnTheOrderOfNodesAndEdges) {
  const RandomGraph graph(30, 40, 5);
  RandomGraph other = graph;
  std::vector<std::int32_t> place(graph.tokens.size());
  std::iota(place.rbegin(), place.rend(), 0);
  for (std::size_t n = 0; n < place.size(); ++n)
    other.tokens[static_cast<std::size_t>(place[n])] = graph.tokens[n];
  for (std::int32_t& node : other.edges.source) node = place[static_cast<std::size_t>(node)];
  for (std::int32_t& node : other.edges.target) node = place[static_cast<std::size_t>(node)];
  std::reverse(other.edges.position.begin(), other.edges.position.end());
  std::reverse(other.edges.relation.begin(), other.edges.relation.end());
  std::reverse(other.edges.source.begin(), other.edges.source.end());
  std::reverse(other.edges.target.begin(), other.edges.target.end());
  EXPECT_EQ(network_digest(graph.tokens, graph.edges, 6),
            network_digest(other.tokens, other.edges, 6));
  other.edges.position[3] += 1;
  EXPECT_NE(network_digest(graph.tokens, graph.edges, 6),
            network_digest(other.tokens, other.edges, 6));
}

}  // namespace
}  // namespace omen::torch_kit::nn
