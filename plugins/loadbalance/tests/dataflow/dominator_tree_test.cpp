// SPDX-License-Identifier: Apache-2.0
// True dominators against LLVM's dominator tree, instruction by instruction.
#include <gtest/gtest.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <filesystem>
#include <string>

#include "dataflow/analysis.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/read_module.hpp"
#include "support/track_data.hpp"

namespace omen::loadbalance {
namespace {

// Instructions of the module by node: the builder numbers both in program order.
std::vector<const llvm::Instruction*> instructions_by_node(const llvm::Module& module,
                                                           const ProgramGraph& graph) {
  std::vector<const llvm::Instruction*> by_node(graph.nodes.size(), nullptr);
  std::size_t node = 0;
  const auto next = [&]() -> std::size_t {
    do ++node;
    while (node < graph.nodes.size() && graph.nodes[node].type != NodeType::kInstruction);
    return node;
  };
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) next();
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      by_node.at(next()) = &instruction;
  }
  return by_node;
}

// Compares every pair of reachable instructions of a function; returns how many were labelled.
std::int64_t compare(const llvm::Module& module, const std::string& name) {
  const ProgramGraph graph = build_graph(module, name);
  const auto by_node = instructions_by_node(module, graph);
  const auto analysis = make_analysis(Analysis::kDominance, graph);
  std::int64_t labelled = 0;
  const llvm::Function* of = nullptr;
  llvm::DominatorTree tree;
  for (std::size_t root = 1; root < by_node.size(); ++root) {
    if (!by_node[root]) continue;
    if (by_node[root]->getFunction() != of) {
      of = by_node[root]->getFunction();
      tree.recalculate(const_cast<llvm::Function&>(*of));
    }
    if (!tree.isReachableFromEntry(by_node[root]->getParent())) continue;
    const Labels labels = analysis->run(static_cast<std::int32_t>(root));
    for (std::size_t node = 0; node < by_node.size(); ++node) {
      const llvm::Instruction* other = by_node[node];
      labelled += labels.value[node];
      const bool expected =
          other && other->getFunction() == of && tree.isReachableFromEntry(other->getParent()) &&
          (other == by_node[root] ||
           (other->getParent() == by_node[root]->getParent()
                ? by_node[root]->comesBefore(other)
                : tree.dominates(by_node[root]->getParent(), other->getParent())));
      if (expected != (labels.value[node] != 0)) {
        ADD_FAILURE() << name << ": root " << root << " and node " << node;
        return labelled;
      }
    }
  }
  return labelled;
}

TEST(DominatorTree, AgreesOnLoopsBranchesAndDeadBlocks) {
  const IrModule module = read_module(
      "define i32 @f(i32 %n, i1 %c) {\n"
      "entry:\n  br i1 %c, label %loop, label %other\n"
      "loop:\n  %i = phi i32 [ 0, %entry ], [ %j, %latch ]\n  br i1 %c, label %latch, label %out\n"
      "latch:\n  %j = add i32 %i, 1\n  %d = icmp slt i32 %j, %n\n"
      "  br i1 %d, label %loop, label %out\n"
      "other:\n  br label %out\n"
      "dead:\n  %x = add i32 %n, 1\n  br label %out\n"
      "out:\n  %r = phi i32 [ 0, %loop ], [ %j, %latch ], [ 1, %other ], [ %x, %dead ]\n"
      "  ret i32 %r\n}\n"
      "declare void @g()\n"
      "define void @h() {\n  call void @g()\n  ret void\n}\n",
      "test.ll");
  EXPECT_GT(compare(module.get(), "test"), 20);
}

TEST(DominatorTree, AgreesOnTheThousandModules) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr int kEvery = 20;  // instrumented code is slow
#else
  constexpr int kEvery = 1;
#endif
  const auto data = testing::track_data();
  if (!data) GTEST_SKIP() << testing::kNoData;
  const auto directory = testing::unpacked(*data / "llvm_ir_1000/llvm_ir.tar.bz2");
  std::int64_t labelled = 0, modules = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".ll" || modules++ % kEvery) continue;
    const IrModule module = read_module_file(entry.path().string());
    labelled += compare(module.get(), entry.path().filename().string());
    if (HasFailure()) break;
  }
  EXPECT_EQ(modules, 1000);
  EXPECT_GT(labelled, 1000000 / kEvery);
}

}  // namespace
}  // namespace omen::loadbalance
