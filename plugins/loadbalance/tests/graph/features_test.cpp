// SPDX-License-Identifier: Apache-2.0
// Counts of small graphs, loops by depth, names without their mangling.
#include "graph/features.hpp"

#include <gmock/gmock.h>

namespace omen::loadbalance {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Grows a graph block by block.
class Builder {
 public:
  Builder() {
    graph.functions = {"kernel", "_Z13get_global_idj"};
    add(NodeType::kInstruction, "[external]", -1, 0);
  }
  std::int32_t add(NodeType type, const char* text, std::int32_t function = 0,
                   std::int32_t block = 0) {
    graph.nodes.push_back({type, texts_.code(text), function, block});
    return static_cast<std::int32_t>(graph.nodes.size()) - 1;
  }
  std::int32_t op(const char* text, std::int32_t block) {
    return add(NodeType::kInstruction, text, 0, block);
  }
  void join(std::int32_t from, std::int32_t to, Flow flow, std::int32_t position = 0) {
    graph.edges.push_back({from, to, position, flow});
  }
  ProgramGraph graph;

 private:
  TextTable texts_{graph};
};

// entry -> outer <-> inner (which also repeats itself) -> exit
ProgramGraph nested_loops() {
  Builder b;
  const auto entry = b.op("br", 0), outer = b.op("br", 1), inner = b.op("br", 2),
             latch = b.op("br", 3), last = b.op("ret", 4);
  b.join(entry, outer, Flow::kControl);
  b.join(outer, inner, Flow::kControl);
  b.join(inner, inner, Flow::kControl, 1);
  b.join(inner, latch, Flow::kControl);
  b.join(latch, outer, Flow::kControl, 1);
  b.join(latch, last, Flow::kControl);
  return b.graph;
}

TEST(Features, LoopsHaveDepths) {
  const ProgramGraph graph = nested_loops();
  EXPECT_THAT(loop_depths(graph),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 1), Pair(4, 0)));
  const FeatureCounts counts = count_features(graph);
  EXPECT_EQ(counts.at("depth"), 2);
  EXPECT_EQ(counts.at("loops.1"), 1);
  EXPECT_EQ(counts.at("loops.2"), 1);
  EXPECT_EQ(counts.at("class.branch.2"), 1);
  EXPECT_EQ(counts.at("blocks"), 5);
}

TEST(Features, ALongChainOfBlocksNeedsNoDeepStack) {
  Builder b;
  std::int32_t before = b.op("br", 0);
  const std::int32_t first = before;
  for (std::int32_t block = 1; block < 200000; ++block) {
    const std::int32_t next = b.op("br", block);
    b.join(before, next, Flow::kControl);
    before = next;
  }
  b.join(before, first, Flow::kControl);
  EXPECT_EQ(loop_depths(b.graph, 1).at(100000), 1);
}

TEST(Features, InstructionsCountByClassTypeAndCallee) {
  Builder b;
  const auto call = b.op("call", 0), load = b.op("load", 0), mul = b.op("fmul", 0);
  const auto declared = b.add(NodeType::kInstruction, "; undefined function", 1, 1);
  const auto pointer = b.add(NodeType::kVariable, "double*");
  const auto value = b.add(NodeType::kVariable, "<2 x double>");
  b.add(NodeType::kConstant, "[13 x [5 x float]]*", -1);
  b.join(call, load, Flow::kControl);
  b.join(load, mul, Flow::kControl);
  b.join(call, declared, Flow::kCall);
  b.join(declared, call, Flow::kCall);
  b.join(pointer, load, Flow::kData);
  b.join(load, value, Flow::kData);
  b.join(value, mul, Flow::kData);
  const FeatureCounts counts = count_features(b.graph);
  EXPECT_EQ(counts.at("instructions"), 3) << "a declaration is none";
  EXPECT_EQ(counts.at("call.get_global_id"), 1);
  EXPECT_EQ(counts.at("class.index.0"), 1);
  EXPECT_EQ(counts.at("class.fp64.0"), 2) << "one for each lane";
  EXPECT_EQ(counts.at("memory.double"), 1);
  EXPECT_EQ(counts.at("type.double"), 2);
  EXPECT_EQ(counts.at("type.float"), 1);
  EXPECT_EQ(counts.at("arguments"), 1) << "the pointer, which nothing defines";
  EXPECT_EQ(counts.at("dimension.largest"), 13);
  EXPECT_EQ(counts.at("edges.call"), 2);
  const Operations work = count_operations(counts);
  EXPECT_EQ(work.fp64, 2);
  EXPECT_EQ(work.bytes, 8);
}

TEST(Features, OpaquePointersArePointers) {
  for (const char* type : {"i32*", "ptr", "ptr addrspace(1)"}) {
    Builder b;
    const auto pointer = b.add(NodeType::kVariable, type);
    b.join(pointer, b.add(NodeType::kInstruction, "load"), Flow::kData);
    EXPECT_EQ(count_features(b.graph).at("pointer_arguments"), 1) << type;
    EXPECT_EQ(count_features(b.graph).at("type.pointer"), 1) << type;
  }
}

TEST(Features, EmptyGraphsCountNothing) {
  ProgramGraph graph;
  EXPECT_EQ(count_features(graph).count("instructions"), 0u);
  EXPECT_TRUE(loop_depths(graph).empty());
}

TEST(Features, NamesLoseTheirArguments) {
  EXPECT_EQ(unmangled("_Z13get_global_idj"), "get_global_id");
  EXPECT_EQ(unmangled("llvm.fmuladd.f64"), "llvm.fmuladd.f64");
  EXPECT_EQ(unmangled("_Z99short"), "_Z99short");
  EXPECT_EQ(unmangled("_Z"), "_Z");
}

}  // namespace
}  // namespace omen::loadbalance
