// SPDX-License-Identifier: Apache-2.0
// The control and data flow graph keeps instructions, and joins definers to users.
#include "graph/cdfg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace omen::loadbalance {
namespace {

using testing::ElementsAre;

// [external] calls `load`, whose value goes through two variables into `add` and `ret`; a constant
// goes into `add`, too.
ProgramGraph sample_cdfg() {
  ProgramGraph graph;
  TextTable texts(graph);
  graph.name = "k";
  graph.functions = {"f"};
  graph.nodes = {{NodeType::kInstruction, texts.code("[external]"), -1, 0},
                 {NodeType::kInstruction, texts.code("load"), 0, 0},
                 {NodeType::kVariable, texts.code("i32"), 0, 0},
                 {NodeType::kInstruction, texts.code("add"), 0, 0},
                 {NodeType::kVariable, texts.code("i32"), 0, 0},
                 {NodeType::kInstruction, texts.code("ret"), 0, 0},
                 {NodeType::kConstant, texts.code("i32"), -1, 1}};
  graph.edges = {{1, 3, 0, Flow::kControl}, {3, 5, 0, Flow::kControl}, {2, 3, 1, Flow::kData},
                 {1, 2, 0, Flow::kData},    {4, 5, 0, Flow::kData},    {1, 4, 0, Flow::kData},
                 {6, 3, 0, Flow::kData},    {0, 1, 0, Flow::kCall},    {5, 0, 0, Flow::kCall}};
  graph.full_texts = {"", "%1 = load", "i32 %1", "%2 = add", "i32 %1", "ret i32 %1", "i32 5"};
  return graph;
}

std::vector<std::string> lines(const ProgramGraph& graph) {
  std::vector<std::string> out;
  for (const Edge& edge : graph.edges)
    out.push_back(std::string(graph.text(graph.nodes[static_cast<std::size_t>(edge.source)])) +
                  " " + kFlowNames[static_cast<std::size_t>(edge.flow)] + " " +
                  std::string(graph.text(graph.nodes[static_cast<std::size_t>(edge.target)])) +
                  " " + std::to_string(edge.position));
  return out;
}

TEST(Cdfg, KeepsInstructionsAndJoinsDefinersToUsers) {
  const ProgramGraph graph = to_cdfg(sample_cdfg());
  EXPECT_THAT(graph.source_nodes, ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(graph.texts, ElementsAre("[external]", "load", "add", "ret"));
  EXPECT_THAT(graph.full_texts, ElementsAre("", "%1 = load", "%2 = add", "ret i32 %1"));
  EXPECT_THAT(lines(graph),
              ElementsAre("load control add 0", "add control ret 0", "[external] call load 0",
                          "ret call [external] 0", "load data add 0", "load data ret 0"));
}

TEST(Cdfg, JoinsEveryDefinerOfASharedVariable) {
  ProgramGraph graph = sample_cdfg();
  graph.edges.push_back({3, 4, 0, Flow::kData});
  EXPECT_THAT(lines(to_cdfg(graph)), testing::IsSupersetOf({"load data ret 0", "add data ret 0"}));
}

TEST(Cdfg, TellsTheNodesItStandsForThroughTables) {
  const GraphTables tables = to_tables({to_cdfg(sample_cdfg())}, kCdfgDialect);
  EXPECT_THAT(tables.nodes.numbers("source_node"), ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(from_tables(tables.nodes, tables.edges)[0].source_nodes, ElementsAre(0, 1, 3, 5));
}

TEST(Cdfg, OfNothingIsNothing) {
  EXPECT_TRUE(to_cdfg({}).nodes.empty());
}

}  // namespace
}  // namespace omen::loadbalance
