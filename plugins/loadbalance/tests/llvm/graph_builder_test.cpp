// SPDX-License-Identifier: Apache-2.0
// The rules of graph building on modules small enough to count by hand.
#include "llvm/graph_builder.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../support/track_data.hpp"
#include "graph/digest.hpp"
#include "llvm/kernels.hpp"
#include "llvm/read_module.hpp"

namespace omen::loadbalance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ProgramGraph graph_of(const std::string& ir, const BuildOptions& options = {}) {
  const IrModule module = read_module(ir, "test.ll");
  return build_graph(module.get(), "test", options);
}

std::vector<std::string> texts(const ProgramGraph& graph) {
  std::vector<std::string> list;
  for (const Node& node : graph.nodes) list.emplace_back(graph.text(node));
  return list;
}

// "control 1->2:0" for every edge of a flow, in order.
std::vector<std::string> edges(const ProgramGraph& graph, Flow flow) {
  std::vector<std::string> list;
  for (const Edge& edge : graph.edges)
    if (edge.flow == flow)
      list.push_back(std::to_string(edge.source) + "->" + std::to_string(edge.target) + ":" +
                     std::to_string(edge.position));
  return list;
}

constexpr const char* kAddOne = R"(
define i32 @f(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
)";

TEST(GraphBuilder, NumbersNodesAndEdgesByProgramOrder) {
  const ProgramGraph graph = graph_of(kAddOne);
  EXPECT_THAT(texts(graph), ElementsAre("[external]", "add", "ret", "i32", "i32", "i32"));
  EXPECT_EQ(graph.nodes[3].type, NodeType::kVariable);
  EXPECT_EQ(graph.nodes[5].type, NodeType::kConstant);
  EXPECT_THAT(edges(graph, Flow::kControl), ElementsAre("1->2:0"));
  EXPECT_THAT(edges(graph, Flow::kData), ElementsAre("3->2:0", "4->1:0", "1->3:0", "5->1:1"));
  EXPECT_THAT(edges(graph, Flow::kCall), ElementsAre("0->1:0", "2->0:0"));
  EXPECT_THAT(graph.functions, ElementsAre("f"));
  EXPECT_EQ(graph.nodes[0].function, -1);
  EXPECT_EQ(graph.nodes[1].function, 0);
  EXPECT_EQ(graph.nodes[5].function, -1);
  EXPECT_TRUE(graph.full_texts.empty());
}

TEST(GraphBuilder, EveryUseOfAResultIsAVariable) {
  const ProgramGraph graph = graph_of(R"(
define i32 @f(i32 %x) {
  %y = mul i32 %x, %x
  %z = add i32 %y, %y
  ret i32 %z
}
)");
  // root, three instructions, two uses of %y, one of %z, one argument
  EXPECT_EQ(graph.nodes.size(), 8U);
  EXPECT_EQ(edges(graph, Flow::kData).size(), 8U);
}

TEST(GraphBuilder, FullTextsAreMadeOnRequest) {
  BuildOptions options;
  options.full_text = true;
  const ProgramGraph graph = graph_of(kAddOne, options);
  EXPECT_THAT(graph.full_texts,
              ElementsAre("", "%y = add i32 %x, 1", "ret i32 %y", "i32 %y", "i32 %x", "i32 1"));
}

TEST(GraphBuilder, StructuresLoseTheirNamesBehindPointers) {
  const ProgramGraph graph = graph_of(R"(
%s = type { i32, %s* }
declare void @use(%s**, { i8 }*, [2 x %s]*, float addrspace(1)*)
define void @f(%s** %a, { i8 }* %b, [2 x %s]* %c, float addrspace(1)* %d) {
  call void @use(%s** %a, { i8 }* %b, [2 x %s]* %c, float addrspace(1)* %d)
  ret void
}
)");
  EXPECT_THAT(texts(graph), ElementsAre("[external]", "; undefined function", "call", "ret",
                                        "struct**", "struct*", "[2 x %s]*", "float addrspace(1)*"));
}

TEST(GraphBuilder, AStructureWithoutANameReadsTheSameInEveryRun) {
  const std::string ir = R"(
%0 = type { i32 }
define void @f([2 x %0]* %a) {
  %b = load [2 x %0], [2 x %0]* %a
  ret void
}
)";
  EXPECT_THAT(texts(graph_of(ir)), ElementsAre("[external]", "load", "ret", "[2 x %struct]*"));
}

TEST(GraphBuilder, TheMaskOfAShuffleIsItsThirdOperand) {
  const ProgramGraph graph = graph_of(R"(
define <4 x float> @f(<4 x float> %a) {
  %b = shufflevector <4 x float> %a, <4 x float> undef, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
  ret <4 x float> %b
}
)");
  EXPECT_THAT(texts(graph), ElementsAre("[external]", "shufflevector", "ret", "<4 x float>",
                                        "<4 x float>", "<4 x float>", "<4 x i32>"));
  EXPECT_THAT(edges(graph, Flow::kData),
              ElementsAre("3->2:0", "4->1:0", "1->3:0", "5->1:1", "6->1:2"));
}

// ---- check 9 of the specification: modules that are legal, but odd -----------------------------

TEST(GraphBuilder, ARepeatedTargetOfASwitchGivesAnEdgeForEachCase) {
  const ProgramGraph graph = graph_of(R"(
define void @f(i32 %x) {
a:
  switch i32 %x, label %b [ i32 1, label %c
                            i32 2, label %c ]
b:
  ret void
c:
  unreachable
}
)");
  EXPECT_THAT(texts(graph),
              ElementsAre("[external]", "switch", "ret", "unreachable", "i32", "i32", "i32"));
  EXPECT_THAT(edges(graph, Flow::kControl), ElementsAre("1->2:0", "1->3:1", "1->3:2"));
  EXPECT_THAT(edges(graph, Flow::kData), ElementsAre("4->1:0", "5->1:2", "6->1:4"));
  // `unreachable` ends the function as `ret` does.
  EXPECT_THAT(edges(graph, Flow::kCall), ElementsAre("0->1:0", "2->0:0", "3->0:0"));
}

TEST(GraphBuilder, ABlockThatNothingReachesKeepsItsInsideOnly) {
  const ProgramGraph graph = graph_of(R"(
define void @f() {
a:
  ret void
b:
  %x = add i32 1, 2
  br label %c
c:
  ret void
}
)");
  EXPECT_THAT(texts(graph), ElementsAre("[external]", "ret", "add", "br", "ret", "i32", "i32"));
  EXPECT_THAT(edges(graph, Flow::kControl), ElementsAre("2->3:0"));
  EXPECT_THAT(edges(graph, Flow::kCall), ElementsAre("0->1:0", "1->0:0"));
}

TEST(GraphBuilder, AFunctionThatNeverReturnsHasNoWayBack) {
  const ProgramGraph graph = graph_of(R"(
define void @f() {
a:
  br label %b
b:
  br label %b
}
)");
  EXPECT_THAT(edges(graph, Flow::kControl), ElementsAre("1->2:0", "2->2:0"));
  EXPECT_THAT(edges(graph, Flow::kCall), ElementsAre("0->1:0"));
}

TEST(GraphBuilder, OnlyPlainCallsOfKnownFunctionsAreCalls) {
  const ProgramGraph graph = graph_of(R"(
declare i32 @__gxx_personality_v0(...)
declare void @g()
define void @f(void ()* %p) personality i32 (...)* @__gxx_personality_v0 {
a:
  call void %p()
  call void bitcast (void (void ()*)* @f to void ()*)()
  invoke void @g() to label %b unwind label %c
b:
  call void @f(void ()* @g)
  ret void
c:
  %l = landingpad { i8*, i32 } cleanup
  resume { i8*, i32 } %l
}
)");
  // Nodes: 1, 2 the declarations, 3 and 4 indirect calls, 5 invoke, 6 call of itself, 7 ret,
  // 8 landingpad, 9 resume.
  EXPECT_THAT(edges(graph, Flow::kCall),
              ElementsAre("0->1:0", "1->0:0", "0->2:0", "2->0:0", "0->3:0", "7->0:0", "9->0:0",
                          "6->3:0", "7->6:0", "9->6:0"));
}

TEST(GraphBuilder, AnEmptyModuleIsItsRoot) {
  const ProgramGraph graph = graph_of("");
  EXPECT_THAT(texts(graph), ElementsAre("[external]"));
  EXPECT_THAT(graph.edges, IsEmpty());
  EXPECT_EQ(structure_digest(graph).size(), 16U);
}

// ---- options and dialects ----------------------------------------------------------------------

TEST(GraphBuilder, InstructionsOnlyAndNoReturns) {
  BuildOptions options;
  options.instructions_only = true;
  options.call_returns = false;
  const ProgramGraph graph = graph_of(kAddOne, options);
  EXPECT_THAT(texts(graph), ElementsAre("[external]", "add", "ret"));
  EXPECT_THAT(edges(graph, Flow::kData), IsEmpty());
  EXPECT_THAT(edges(graph, Flow::kCall), ElementsAre("0->1:0"));
}

TEST(GraphBuilder, TypedGraphsLinkMembersToTheirTypes) {
  BuildOptions options;
  options.dialect = Dialect::kTyped;
  const ProgramGraph graph = graph_of(R"(
%list = type { i32, %list* }
define void @f(%list* %a) {
  %b = load %list, %list* %a
  ret void
}
)",
                                      options);
  EXPECT_THAT(texts(graph),
              ElementsAre("[external]", "load", "ret", "var", "*", "struct", "i32", "*"));
  // The structure's own pointer member points back to it.
  EXPECT_THAT(edges(graph, Flow::kType),
              ElementsAre("6->5:0", "5->7:0", "7->5:1", "5->4:0", "4->3:0"));
}

TEST(GraphBuilder, TypesThatUnfoldWithoutEndAreRefused) {
  std::string ir = "%s0 = type { i32, i32 }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string inner = "%s" + std::to_string(i - 1);
    ir += "%s" + std::to_string(i) + " = type { " + inner + ", " + inner + " }\n";
  }
  ir += "define void @f(%s39* %a) {\n  %b = load %s39, %s39* %a\n  ret void\n}\n";
  BuildOptions options;
  options.dialect = Dialect::kTyped;
  EXPECT_THROW(graph_of(ir, options), Error);
  EXPECT_EQ(graph_of(ir).nodes.size(), 4U);
}

TEST(GraphBuilder, TypedGraphsAreThoseOfTheOriginal) {
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  std::ifstream in(*data / "golden/dataflow_and_counts.json");
  const auto want = nlohmann::json::parse(in)["head_version_type_nodes_simple_A"];
  BuildOptions options;
  options.dialect = Dialect::kTyped;
  options.full_text = true;
  const IrModule module = read_module_file((*data / "golden/simple_A.ll").string());
  const ProgramGraph graph = build_graph(module.get(), "simple_A", options);
  EXPECT_EQ(texts(graph), want["texts"].get<std::vector<std::string>>());
  const std::vector<std::string> full(graph.full_texts.begin() + 1, graph.full_texts.end());
  EXPECT_EQ(full, want["full_text_from_node_1"].get<std::vector<std::string>>());
}

TEST(GraphBuilder, GraphsEqualTheKeptOnesUpToNumbers) {
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  std::ifstream in(*data / "golden/graphs.json");
  const auto document = nlohmann::json::parse(in);
  std::size_t seen = 0;
  const auto number_of = [](const std::string& name, const auto& names) {
    std::size_t at = 0;
    while (at < names.size() && name != names[at]) ++at;
    return at;
  };
  const std::vector<std::string> types = {"INSTRUCTION", "VARIABLE", "CONSTANT"};
  const std::vector<std::string> flows = {"CONTROL", "DATA", "CALL"};
  for (const auto& want : document["graphs"]) {
    const std::string name = want["ir"];
    std::filesystem::path path = *data / "golden" / name;
    if (!std::filesystem::exists(path)) path = *data / "kernels_chai" / name;
    if (!std::filesystem::exists(path))
      path = testing::unpacked(*data / "devmap/kernels_ir.tar.bz2") / name;
    ProgramGraph kept;
    TextTable table(kept);
    for (const auto& node : want["nodes"]) {
      Node read;
      read.type = static_cast<NodeType>(number_of(node["type"], types));
      read.text = table.code(node["text"].get<std::string>());
      kept.nodes.push_back(read);
    }
    for (const auto& edge : want["edges"])
      kept.edges.push_back(
          {edge[2], edge[3], edge[1], static_cast<Flow>(number_of(edge[0], flows))});
    const IrModule module = read_module_file(path.string());
    EXPECT_EQ(structure_digest(build_graph(module.get(), name)), structure_digest(kept)) << name;
    ++seen;
  }
  EXPECT_EQ(seen, 6U);
}

TEST(GraphBuilder, IdentifiersAreOneNodeAndStoresReachLoads) {
  BuildOptions options;
  options.dialect = Dialect::kIdentifier;
  const ProgramGraph graph = graph_of(R"(
define i32 @f() {
  %p = alloca i32
  store i32 42, i32* %p
  %v = load i32, i32* %p
  ret i32 %v
}
)",
                                      options);
  EXPECT_THAT(texts(graph), ElementsAre("[external]", "alloca", "store", "i32*", "load", "ret",
                                        "i32", "i32", "i32"));
  EXPECT_THAT(edges(graph, Flow::kData),
              UnorderedElementsAre("1->3:0", "3->2:1", "2->3:1", "3->4:0", "4->6:0", "6->5:0",
                                   "7->1:0", "8->2:0"));
  EXPECT_THAT(graph.values, ElementsAre("", "", "", "", "", "", "", "1", "42"));
}

TEST(Kernels, BringTheirCalleesAndNothingElse) {
  const IrModule module = read_module(R"(
declare void @unused()
declare float @sqrtf(float)
define internal float @helper(float %x) {
  %r = call float @sqrtf(float %x)
  ret float %r
}
define spir_kernel void @first(float* %y) {
  %v = load float, float* %y
  %r = call float @helper(float %v)
  store float %r, float* %y
  ret void
}
define spir_kernel void @second() {
  ret void
}
define void @listed() {
  ret void
}
!opencl.kernels = !{!0}
!0 = !{void ()* @listed}
)",
                                      "test.ll");
  const auto names = [](const std::vector<const llvm::Function*>& functions) {
    std::vector<std::string> list;
    for (const llvm::Function* function : functions) list.push_back(function->getName().str());
    return list;
  };
  const auto kernels = kernels_of(module.get());
  EXPECT_THAT(names(kernels), ElementsAre("first", "second", "listed"));
  EXPECT_THAT(names(with_callees(*kernels[0])), ElementsAre("sqrtf", "helper", "first"));
  EXPECT_THAT(names(with_callees(*kernels[1])), ElementsAre("second"));
  const ProgramGraph graph = build_graph(module.get(), with_callees(*kernels[0]), "first");
  EXPECT_THAT(graph.functions, ElementsAre("sqrtf", "helper", "first"));
}

TEST(Digest, DoesNotDependOnOrder) {
  ProgramGraph graph = graph_of(kAddOne);
  const std::string structure = structure_digest(graph), nodes = node_text_digest(graph);
  std::reverse(graph.edges.begin(), graph.edges.end());
  EXPECT_EQ(structure_digest(graph), structure);
  graph.edges[0].position += 1;
  EXPECT_NE(structure_digest(graph), structure);
  EXPECT_EQ(node_text_digest(graph), nodes);
  EXPECT_EQ(fnv1a(""), 14695981039346656037ULL);
}

}  // namespace
}  // namespace omen::loadbalance
