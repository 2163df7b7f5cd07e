// SPDX-License-Identifier: Apache-2.0
// Walks up the dominators of an instruction.
#include "opencl/held_conditions.hpp"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace omen::loadbalance {
namespace {

void add_parts(const llvm::Value* condition, bool holds, std::vector<HeldCondition>& found) {
  using llvm::PatternMatch::m_LogicalAnd;
  using llvm::PatternMatch::m_LogicalOr;
  using llvm::PatternMatch::m_Value;
  const llvm::Value *left = nullptr, *right = nullptr;
  if (holds ? match(condition, m_LogicalAnd(m_Value(left), m_Value(right)))
            : match(condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
    add_parts(left, holds, found);
    add_parts(right, holds, found);
  } else if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
    found.push_back({compare, holds});
  }
}

}  // namespace

std::vector<HeldCondition> held_conditions(const llvm::Instruction& at,
                                           const llvm::DominatorTree& tree) {
  std::vector<HeldCondition> found;
  const llvm::BasicBlock* block = at.getParent();
  const llvm::DomTreeNode* own = tree.getNode(block);  // null: no path leads there
  for (const llvm::DomTreeNode* node = own ? own->getIDom() : nullptr; node;
       node = node->getIDom()) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    for (const unsigned way : {0U, 1U})
      if (tree.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(way)), block))
        add_parts(branch->getCondition(), way == 0, found);
  }
  return found;
}

}  // namespace omen::loadbalance
