// SPDX-License-Identifier: Apache-2.0
// Program graphs survive the way through tables, and damaged tables are refused.
#include "graph/program_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace omen::loadbalance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProgramGraph small_graph(const std::string& constant) {
  ProgramGraph graph;
  TextTable texts(graph);
  graph.name = "k";
  graph.functions = {"helper", "kernel"};
  graph.nodes = {{NodeType::kInstruction, texts.code("[external]"), -1, 0},
                 {NodeType::kInstruction, texts.code("; undefined function"), 0, 0},
                 {NodeType::kInstruction, texts.code("add"), 1, 3},
                 {NodeType::kConstant, texts.code(constant), -1, 4}};
  graph.edges = {{0, 2, 0, Flow::kCall}, {3, 2, 1, Flow::kData}, {3, 2, 0, Flow::kData}};
  return graph;
}

TEST(ProgramGraph, InternsEqualTexts) {
  ProgramGraph graph;
  TextTable texts(graph);
  EXPECT_EQ(texts.code("add"), 0);
  EXPECT_EQ(texts.code("i32"), 1);
  EXPECT_EQ(texts.code("add"), 0);
  EXPECT_THAT(graph.texts, ElementsAre("add", "i32"));
}

TEST(ProgramGraph, ComesBackFromTables) {
  const std::vector<ProgramGraph> graphs = {small_graph("i32"), small_graph("float")};
  const GraphTables tables = to_tables(graphs, kDialect, 5);
  EXPECT_EQ(tables.nodes.metadata("omen.dialect"), "programl/1");
  EXPECT_THAT(tables.nodes.numbers("graph_id"), ElementsAre(5, 5, 5, 5, 6, 6, 6, 6));

  const std::vector<ProgramGraph> back = from_tables(tables.nodes, tables.edges);
  ASSERT_EQ(back.size(), 2u);
  for (std::size_t g = 0; g < 2; ++g) {
    ASSERT_EQ(back[g].nodes.size(), 4u);
    EXPECT_THAT(back[g].functions, ElementsAre("helper", "kernel"));
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_EQ(back[g].text(back[g].nodes[n]), graphs[g].text(graphs[g].nodes[n]));
      EXPECT_EQ(back[g].nodes[n].type, graphs[g].nodes[n].type);
      EXPECT_EQ(back[g].nodes[n].function, graphs[g].nodes[n].function);
      EXPECT_EQ(back[g].nodes[n].block, graphs[g].nodes[n].block);
    }
    ASSERT_EQ(back[g].edges.size(), 3u);
    EXPECT_EQ(back[g].edges[1].flow, Flow::kData);
    EXPECT_EQ(back[g].edges[1].position, 1);
  }
}

TEST(ProgramGraph, KeepsFullTextsOnlyWhereEveryGraphHasThem) {
  ProgramGraph graph = small_graph("i32");
  graph.full_texts = {"", "", "%1 = add i32 %0, 1", "i32 1"};
  EXPECT_TRUE(to_tables({graph}, kDialect).nodes.has("full_text"));
  EXPECT_FALSE(to_tables({graph, small_graph("i32")}, kDialect).nodes.has("full_text"));
}

TEST(ProgramGraph, RefusesAnEdgeToNowhere) {
  ProgramGraph graph = small_graph("i32");
  graph.edges.push_back({2, 9, 0, Flow::kControl});
  const GraphTables tables = to_tables({graph}, kDialect);
  try {
    from_tables(tables.nodes, tables.edges);
    FAIL() << "a node that does not exist was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_INVALID_DATA);
    EXPECT_THAT(e.what(), HasSubstr("names a node that does not exist"));
  }
}

TEST(ProgramGraph, RefusesAnUnknownKindOfEdge) {
  const GraphTables tables = to_tables({small_graph("i32")}, kDialect);
  const Table edges = TableBuilder()
                          .add("graph_id", std::vector<std::int64_t>{0})
                          .add("src", std::vector<std::int32_t>{0})
                          .add("dst", std::vector<std::int32_t>{1})
                          .add_categories("kind", {"magic"})
                          .finish();
  EXPECT_THROW(from_tables(tables.nodes, edges), Error);
}

}  // namespace
}  // namespace omen::loadbalance
