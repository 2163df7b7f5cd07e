// SPDX-License-Identifier: Apache-2.0
// Graphs as text: node-link JSON, graphviz, families of ops, and counts.
#include "graphs/graph_output.hpp"

#include <gmock/gmock.h>

#include "omen/testing/errors.hpp"

namespace omen::host {
namespace {

using omen::test::error_of;
using omen::test::IsError;
using testing::HasSubstr;
using testing::Not;

Tables small(int graphs = 1) {
  std::vector<std::int64_t> workload, node_graph, edge_graph;
  std::vector<std::int32_t> node, src, dst;
  std::vector<std::string> op, name, group, kind;
  for (int g = 0; g < graphs; ++g) {
    workload.push_back(g);
    name.push_back("net \"" + std::to_string(g) + "\"");
    group.emplace_back("family");
    for (int n = 0; n < 3; ++n) {
      node_graph.push_back(g);
      node.push_back(n);
      op.emplace_back(n == 0 ? "conv2d" : n == 1 ? "relu" : "br");
    }
    for (int e = 0; e < 2; ++e) {
      edge_graph.push_back(g);
      src.push_back(e);
      dst.push_back(e + 1);
      kind.emplace_back(e == 0 ? "data" : "control");
    }
  }
  TableBuilder w, nodes, edges;
  w.add("workload_id", workload).add_strings("name", name).add_categories("group", group);
  nodes.metadata("omen.dialect", "ops/1").add("graph_id", node_graph).add("node_id", node);
  nodes.add_categories("op", op).add_list("feat", 2, std::vector<float>(node.size() * 2, 0.5f));
  edges.add("graph_id", edge_graph).add("src", src).add("dst", dst).add_categories("kind", kind);
  return {{"workloads", w.finish()}, {"nodes", nodes.finish()}, {"edges", edges.finish()}};
}

TEST(OpFamilyOf, KnowsNamesOfSeveralDialects) {
  EXPECT_EQ(op_family("Conv2D"), OpFamily::kCompute);
  EXPECT_EQ(op_family("MatMul"), OpFamily::kCompute);
  EXPECT_EQ(op_family("getelementptr"), OpFamily::kMemory);
  EXPECT_EQ(op_family("FusedBatchNorm"), OpFamily::kReduce);
  EXPECT_EQ(op_family("fadd"), OpFamily::kElementwise);
  EXPECT_EQ(op_family("br"), OpFamily::kControl);
  EXPECT_EQ(op_family("broadcast"), OpFamily::kElementwise);
  EXPECT_EQ(op_family("Const"), OpFamily::kData);
  EXPECT_EQ(op_family("zzz"), OpFamily::kOther);
}

TEST(GraphJson, IsOneObjectOrAList) {
  const std::string one = graph_json(small(1));
  EXPECT_EQ(one[0], '{');
  EXPECT_THAT(one, HasSubstr("\"name\": \"net \\\"0\\\"\""));
  EXPECT_THAT(one, HasSubstr("\"source\": 1"));
  EXPECT_THAT(one, HasSubstr("\"feat\": [0.5, 0.5]"));
  EXPECT_EQ(graph_json(small(2))[0], '[');
}

// A kernel of two blocks that calls a declared function; its constant is used in one block.
Tables program() {
  TableBuilder nodes, edges;
  nodes.metadata("omen.dialect", "programl/1")
      .add("graph_id", std::vector<std::int64_t>(7, 0))
      .add("node_id", std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6})
      .add_categories("op",
                      {"[external]", "; undefined function", "call", "br", "ret", "i32", "i8*"})
      .add_categories("type", {"instruction", "instruction", "instruction", "instruction",
                               "instruction", "constant", "variable"})
      .add_categories("function", {"", "_Z13get_global_idj", "k", "k", "k", "", "k"})
      .valid({false, true, true, true, true, false, true})
      .add("block", std::vector<std::int32_t>{0, 0, 0, 0, 1, 2, 2});
  edges.add("graph_id", std::vector<std::int64_t>(7, 0))
      .add("src", std::vector<std::int32_t>{2, 3, 3, 5, 0, 2, 4})
      .add("dst", std::vector<std::int32_t>{3, 4, 4, 2, 2, 1, 0})
      .add_categories("kind", {"control", "control", "control", "data", "call", "call", "call"})
      .add("position", std::vector<std::int32_t>{0, 0, 1, 0, 0, 0, 0});
  return {{"nodes", nodes.finish()}, {"edges", edges.finish()}};
}

TEST(GraphJson, TellsParallelEdgesApart) {
  const std::string text = graph_json(program());
  EXPECT_THAT(text, HasSubstr("\"position\": 1,\n"));
  EXPECT_THAT(text, HasSubstr("\"key\": 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("\"key\": 2")));
}

TEST(GraphDot, DrawsProgramsByFunctionAndBlock) {
  const std::string dot = graph_dot(program(), "t", 100);
  EXPECT_THAT(dot, HasSubstr("subgraph \"cluster_g0_f0\" { label=\"k\""));
  EXPECT_THAT(dot, HasSubstr("label=\"block 0\""));
  EXPECT_THAT(dot, HasSubstr("label=\"block 1\""));
  EXPECT_THAT(dot, Not(HasSubstr("label=\"block 2\""))) << "arguments belong to no block";
  EXPECT_THAT(dot, HasSubstr("label=\"call\\nget_global_id\""));
  EXPECT_THAT(dot, HasSubstr("label=\"outside\""));
  EXPECT_THAT(dot, HasSubstr("label=\" yes\""));
  EXPECT_THAT(dot, HasSubstr("label=\" no\""));
  EXPECT_THAT(dot, HasSubstr(">function elsewhere<"));
  EXPECT_LT(dot.find("g0_5 ["), dot.find("label=\"block 1\"")) << "a constant is with its user";
}

// A chain of `adds` instructions in blocks of ten.
Tables long_program(int adds) {
  std::vector<std::int32_t> node, block, src, dst;
  std::vector<std::string> op;
  for (int i = 0; i < adds; ++i) {
    node.push_back(i);
    block.push_back(i / 10);
    op.emplace_back(i % 10 == 9 ? "br" : "add");
    if (i > 0) {
      src.push_back(i - 1);
      dst.push_back(i);
    }
  }
  TableBuilder nodes, edges;
  nodes.add("graph_id", std::vector<std::int64_t>(node.size(), 0))
      .add("node_id", node)
      .add_categories("op", op)
      .add_categories("type", std::vector<std::string>(node.size(), "instruction"))
      .add_categories("function", std::vector<std::string>(node.size(), "k"))
      .add("block", block);
  edges.add("graph_id", std::vector<std::int64_t>(src.size(), 0))
      .add("src", src)
      .add("dst", dst)
      .add_categories("kind", std::vector<std::string>(src.size(), "control"));
  return {{"nodes", nodes.finish()}, {"edges", edges.finish()}};
}

TEST(GraphDot, DrawsLargeProgramsAsListings) {
  const std::string dot = graph_dot(long_program(200), "t", 400);
  EXPECT_THAT(dot, HasSubstr("PORT=\"n199\""));
  EXPECT_THAT(dot, HasSubstr("g0_f0b0:n9:s -> g0_f0b1:top:n"));
  EXPECT_THAT(dot, Not(HasSubstr("g0_f0b0:n8"))) << "within a block the order of lines says it";
  EXPECT_THAT(dot, HasSubstr("values are folded"));
  EXPECT_THAT(dot, HasSubstr(">arithmetic<"));
  EXPECT_THAT(graph_dot(long_program(200), "t", 50), HasSubstr("150 more nodes are not drawn"));
}

TEST(GraphDot, DrawsPartOfAProgram) {
  const std::string dot = graph_dot(program(), "t", 3);
  EXPECT_THAT(dot, HasSubstr("4 more nodes are not drawn"));
  EXPECT_THAT(dot, Not(HasSubstr("g0_5")));
}

TEST(GraphDot, ColoursFamiliesAndExplainsThem) {
  const std::string dot = graph_dot(small(), "a \"title\"", 100);
  EXPECT_THAT(dot, HasSubstr("label=\"a \\\"title\\\"\\n \""));
  EXPECT_THAT(dot, HasSubstr("style=dashed"));
  EXPECT_THAT(dot, HasSubstr(">compute<"));
  EXPECT_THAT(dot, HasSubstr(">control<"));
  EXPECT_THAT(dot, Not(HasSubstr(">memory, layout<"))) << "the legend names only what is there";
}

TEST(GraphDot, FramesSeveralGraphsAndStopsAtTheLimit) {
  const std::string dot = graph_dot(small(3), "t", 4);
  EXPECT_THAT(dot, HasSubstr("cluster_g0_"));
  EXPECT_THAT(dot, HasSubstr("5 more nodes are not drawn"));
  EXPECT_THAT(dot, Not(HasSubstr("cluster_g2_")));
}

TEST(GraphFactsOf, CountsWhatIsThere) {
  const GraphFacts facts = graph_facts(small(2));
  EXPECT_EQ(facts.graphs, 2);
  EXPECT_EQ(facts.nodes, 6);
  EXPECT_EQ(facts.edges, 4);
  EXPECT_EQ(facts.ops, 3);
  EXPECT_EQ(facts.edge_kinds, "control 2, data 2");
  EXPECT_EQ(graph_facts({}).nodes, 0);
}

TEST(GraphJson, NeedsNodes) {
  EXPECT_THAT(error_of([] { graph_json({}); }), IsError(OMEN_INVALID_DATA, HasSubstr("no graph")));
}

}  // namespace
}  // namespace omen::host
