// SPDX-License-Identifier: Apache-2.0
// Data-flow labels on small graphs: by hand, and against the plainest computation of each.
#include "dataflow/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "graphs.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

using testing::connect;
using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::IsEmpty;
using testing::labelled;
using testing::random_graph;

constexpr unsigned kSeeds = 300;

std::vector<std::int32_t> answer(Analysis analysis, const ProgramGraph& graph, std::int32_t root,
                                 Mode mode = Mode::kExact) {
  return labelled(make_analysis(analysis, graph, mode)->run(root).value);
}

// Nodes that a path of at least one edge of this flow leads to from `start`, by recursion; the path
// ends before a node that `stop` names.
std::set<std::int32_t> reached_by(const ProgramGraph& graph, Flow flow, std::int32_t start,
                                  const std::function<bool(std::int32_t)>& stop = nullptr) {
  std::set<std::int32_t> seen;
  const std::function<void(std::int32_t)> visit = [&](std::int32_t node) {
    for (const Edge& edge : graph.edges)
      if (edge.flow == flow && edge.source == node && !(stop && stop(edge.target)) &&
          seen.insert(edge.target).second)
        visit(edge.target);
  };
  visit(start);
  return seen;
}

bool has_edge(const ProgramGraph& graph, Flow flow, std::int32_t source, std::int32_t target) {
  return std::any_of(graph.edges.begin(), graph.edges.end(), [&](const Edge& e) {
    return e.flow == flow && e.source == source && e.target == target;
  });
}

TEST(Analyses, HaveNames) {
  EXPECT_EQ(analysis_named("liveness"), Analysis::kLiveness);
  EXPECT_THROW(analysis_named("livenes"), Error);
}

TEST(Analyses, RefuseARootOfAnotherType) {
  const ProgramGraph graph = graph_of("IIV");
  for (const Analysis analysis : {Analysis::kReachability, Analysis::kDominance,
                                  Analysis::kLiveness, Analysis::kSubexpressions})
    for (const std::int32_t root : {-1, 0, 2, 3})
      EXPECT_THROW(make_analysis(analysis, graph)->run(root), Error) << root;
  EXPECT_THROW(make_analysis(Analysis::kDatadep, graph)->run(3), Error);
}

TEST(Reachability, EqualsRecursionOnRandomGraphs) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const ProgramGraph graph = random_graph(seed);
    const auto analysis = make_analysis(Analysis::kReachability, graph);
    for (const std::int32_t root : analysis->roots()) {
      std::set<std::int32_t> expected = reached_by(graph, Flow::kControl, root);
      expected.insert(root);
      const Labels labels = analysis->run(root);
      ASSERT_EQ(labelled(labels.value), std::vector<std::int32_t>(expected.begin(), expected.end()))
          << "seed " << seed << " root " << root;
      EXPECT_EQ(labels.active, static_cast<std::int64_t>(expected.size()));
    }
  }
}

TEST(Reachability, CountsVisitsInCompatMode) {
  ProgramGraph graph = graph_of("IIIII");  // a diamond: its end is queued from both sides
  for (const auto& [a, b] : {std::pair{1, 2}, {1, 3}, {2, 4}, {3, 4}})
    connect(graph, Flow::kControl, a, b);
  EXPECT_EQ(make_analysis(Analysis::kReachability, graph)->run(1).active, 4);
  EXPECT_EQ(make_analysis(Analysis::kReachability, graph, Mode::kCompat)->run(1).active, 5);
}

TEST(Reachability, EndsOnAChainOfDiamondsInCompatMode) {
  const int diamonds = 40;  // 2^40 ways
  ProgramGraph graph = graph_of(std::string(3 * diamonds + 2, 'I'));
  for (int d = 0; d < diamonds; ++d)
    for (const auto& [a, b] : {std::pair{1, 2}, {1, 3}, {2, 4}, {3, 4}})
      connect(graph, Flow::kControl, 3 * d + a, 3 * d + b);
  EXPECT_EQ(make_analysis(Analysis::kReachability, graph)->run(1).steps, 2 * diamonds + 1);
  EXPECT_GT(make_analysis(Analysis::kReachability, graph, Mode::kCompat)->run(1).active, 100000);
}

TEST(Dominance, IsWhatCannotBeReachedWithoutTheRoot) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const ProgramGraph graph = random_graph(seed);
    std::set<std::int32_t> entries;
    for (std::size_t i = 1; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].type == NodeType::kInstruction &&
          std::none_of(graph.edges.begin(), graph.edges.end(), [&](const Edge& e) {
            return e.flow == Flow::kControl && e.target == static_cast<int>(i);
          }))
        entries.insert(static_cast<std::int32_t>(i));
    const auto analysis = make_analysis(Analysis::kDominance, graph);
    for (const std::int32_t root : analysis->roots()) {
      std::set<std::int32_t> expected = reached_by(graph, Flow::kControl, root);
      expected.insert(root);
      const auto is_root = [&](std::int32_t node) { return node == root; };
      for (const std::int32_t entry : entries) {
        if (entry == root) continue;
        expected.erase(entry);
        for (const std::int32_t other : reached_by(graph, Flow::kControl, entry, is_root))
          expected.erase(other);
      }
      ASSERT_EQ(labelled(analysis->run(root).value),
                std::vector<std::int32_t>(expected.begin(), expected.end()))
          << "seed " << seed << " root " << root;
    }
  }
}

TEST(Dominance, GoesThroughLoopsUnlessCompatible) {
  ProgramGraph graph = graph_of("IIIII");  // entry, header and body of a loop, exit
  for (const auto& [a, b] : {std::pair{1, 2}, {2, 3}, {3, 2}, {2, 4}})
    connect(graph, Flow::kControl, a, b);
  EXPECT_THAT(answer(Analysis::kDominance, graph, 1), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(answer(Analysis::kDominance, graph, 1, Mode::kCompat), ElementsAre(1));
  EXPECT_THAT(answer(Analysis::kDominance, graph, 3), ElementsAre(3));
  EXPECT_EQ(make_analysis(Analysis::kDominance, graph)->run(3).steps, 2);
}

TEST(Dominance, GivesUpAfterAThousandChangesInCompatMode) {
  const int length = 1100;
  ProgramGraph graph = graph_of(std::string(length, 'I'));
  for (int i = 1; i + 1 < length; ++i) connect(graph, Flow::kControl, i, i + 1);
  EXPECT_EQ(make_analysis(Analysis::kDominance, graph)->run(1).active, length - 1);
  EXPECT_THROW(make_analysis(Analysis::kDominance, graph, Mode::kCompat)->run(1), Error);
}

TEST(Datadep, EqualsRecursionOnRandomGraphs) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const ProgramGraph graph = random_graph(seed);
    const auto analysis = make_analysis(Analysis::kDatadep, graph);
    for (const std::int32_t root : analysis->roots()) {
      std::vector<std::int32_t> expected;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        if (graph.nodes[i].type == NodeType::kInstruction &&
            reached_by(graph, Flow::kData, node).count(root))
          expected.push_back(node);
      }
      ASSERT_EQ(labelled(analysis->run(root).value), expected) << "seed " << seed;
    }
  }
}

// Live-in sets by the equations until nothing changes.
std::vector<std::set<std::int32_t>> live_in(const ProgramGraph& graph) {
  std::vector<std::set<std::int32_t>> in(graph.nodes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto node = static_cast<std::int32_t>(i);
      std::set<std::int32_t> now;
      for (const Edge& e : graph.edges)
        if (e.flow == Flow::kControl && e.source == node)
          for (const std::int32_t value : in[static_cast<std::size_t>(e.target)])
            if (!has_edge(graph, Flow::kData, node, value)) now.insert(value);
      for (const Edge& e : graph.edges)
        if (e.flow == Flow::kData && e.target == node &&
            graph.nodes[i].type == NodeType::kInstruction)
          now.insert(e.source);
      if (now != in[i]) in[i] = now, changed = true;
    }
  }
  return in;
}

TEST(Liveness, EqualsItsEquationsOnRandomGraphs) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const ProgramGraph graph = random_graph(seed);
    const auto in = live_in(graph);
    const auto analysis = make_analysis(Analysis::kLiveness, graph);
    std::vector<std::int32_t> with_values;
    for (std::size_t i = 1; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].type != NodeType::kInstruction) continue;
      const auto node = static_cast<std::int32_t>(i);
      std::set<std::int32_t> out;
      for (const Edge& e : graph.edges)
        if (e.flow == Flow::kControl && e.source == node)
          out.insert(in[static_cast<std::size_t>(e.target)].begin(),
                     in[static_cast<std::size_t>(e.target)].end());
      ASSERT_EQ(labelled(analysis->run(node).value),
                std::vector<std::int32_t>(out.begin(), out.end()))
          << "seed " << seed << " root " << node;
      if (!out.empty()) with_values.push_back(node);
    }
    EXPECT_EQ(analysis->roots(), with_values) << "seed " << seed;
  }
}

TEST(Liveness, NeedsAnExitInCompatMode) {
  ProgramGraph graph = graph_of("IIIV");  // 1 and 2 run for ever, 2 uses what 1 defines
  connect(graph, Flow::kControl, 1, 2);
  connect(graph, Flow::kControl, 2, 1);
  connect(graph, Flow::kData, 1, 3);
  connect(graph, Flow::kData, 3, 2);
  EXPECT_THAT(answer(Analysis::kLiveness, graph, 1), ElementsAre(3));
  EXPECT_THAT(answer(Analysis::kLiveness, graph, 1, Mode::kCompat), IsEmpty());
}

TEST(Liveness, GivesUpOnALoopWithoutUsesInCompatMode) {
  ProgramGraph graph = graph_of("IIII");
  connect(graph, Flow::kControl, 1, 2);
  connect(graph, Flow::kControl, 2, 1);
  connect(graph, Flow::kControl, 2, 3);
  EXPECT_THAT(make_analysis(Analysis::kLiveness, graph)->roots(), IsEmpty());
  EXPECT_THROW(make_analysis(Analysis::kLiveness, graph, Mode::kCompat), Error);
}

TEST(Subexpressions, EqualPairwiseComparisonOnRandomGraphs) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const ProgramGraph graph = random_graph(seed);
    const auto operands = [&](std::int32_t node) {
      std::multiset<std::pair<std::int32_t, std::int32_t>> ordered;
      const bool any_order = graph.text(graph.nodes[static_cast<std::size_t>(node)]) == "add";
      for (const Edge& e : graph.edges)
        if (e.flow == Flow::kData && e.target == node)
          ordered.emplace(any_order ? 0 : e.position, e.source);
      std::vector<std::int32_t> nodes;
      for (const auto& [position, source] : ordered) nodes.push_back(source);
      return nodes;
    };
    const auto analysis = make_analysis(Analysis::kSubexpressions, graph);
    for (const std::int32_t root : analysis->roots()) {
      std::vector<std::int32_t> expected;
      for (std::size_t i = 1; i < graph.nodes.size(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        if (graph.nodes[i].type == NodeType::kInstruction &&
            graph.nodes[i].text == graph.nodes[static_cast<std::size_t>(root)].text &&
            operands(node) == operands(root))
          expected.push_back(node);
      }
      EXPECT_GT(expected.size(), 1U);
      ASSERT_EQ(labelled(analysis->run(root).value), expected) << "seed " << seed;
    }
  }
}

TEST(Subexpressions, AnswerDatadepInCompatMode) {
  ProgramGraph graph = graph_of("IIV");
  connect(graph, Flow::kData, 1, 2);
  EXPECT_THAT(answer(Analysis::kSubexpressions, graph, 2, Mode::kCompat), ElementsAre(1));
}

TEST(Roots, AreATenthAndFollowTheSeed) {
  std::vector<std::int32_t> roots;
  for (std::int32_t i = 0; i < 95; ++i) roots.push_back(3 * i + 1);
  const auto drawn = sample_roots(roots, 100, 7);
  EXPECT_EQ(drawn.size(), 10U);
  EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  EXPECT_TRUE(std::includes(roots.begin(), roots.end(), drawn.begin(), drawn.end()));
  EXPECT_EQ(std::set<std::int32_t>(drawn.begin(), drawn.end()).size(), 10U);
  EXPECT_EQ(drawn, sample_roots(roots, 100, 7));
  EXPECT_NE(drawn, sample_roots(roots, 100, 8));
  EXPECT_EQ(sample_roots(roots, 4, 7).size(), 4U);
  EXPECT_THAT(sample_roots({}, 4, 7), IsEmpty());
  EXPECT_THAT(sample_roots({5}, 4, 7), ElementsAre(5));
}

}  // namespace
}  // namespace omen::loadbalance
