// SPDX-License-Identifier: Apache-2.0
// Walks up the dominators of an instruction.
#include "opencl/lonely_guards.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace omen::loadbalance {
namespace {

void add_guards(const llvm::Value* condition, bool on_true, bool on_false, const IdFlow& ids,
                Guards& found) {
  if (const auto* both = llvm::dyn_cast<llvm::BinaryOperator>(condition);
      both && both->getOpcode() == llvm::Instruction::And && on_true) {
    add_guards(both->getOperand(0), true, false, ids, found);
    add_guards(both->getOperand(1), true, false, ids, found);
  } else if (const auto* chosen = llvm::dyn_cast<llvm::SelectInst>(condition)) {
    const auto* otherwise = llvm::dyn_cast<llvm::Constant>(chosen->getFalseValue());
    if (!on_true || !otherwise || !otherwise->isNullValue()) return;
    add_guards(chosen->getCondition(), true, false, ids, found);
    add_guards(chosen->getTrueValue(), true, false, ids, found);
  } else if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
    const bool equal = (on_true && compare->getPredicate() == llvm::CmpInst::ICMP_EQ) ||
                       (on_false && compare->getPredicate() == llvm::CmpInst::ICMP_NE);
    const unsigned a = ids.of(compare->getOperand(0)), b = ids.of(compare->getOperand(1));
    // One side is an id, the other the same for everyone.
    if (!equal || (a && b) || ((a | b) & (kFoldedBit | kDataBit)) || !((a | b) & kGroupBits))
      return;
    found[condition] = (a | b) & kGroupBits;
  }
}

}  // namespace

Guards lonely_guards(const llvm::Instruction& at, const llvm::DominatorTree& tree,
                     const IdFlow& ids) {
  Guards found;
  const llvm::BasicBlock* block = at.getParent();
  const llvm::DomTreeNode* own = tree.getNode(block);  // null: no path leads there
  for (const llvm::DomTreeNode* node = own ? own->getIDom() : nullptr; node;
       node = node->getIDom()) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    add_guards(
        branch->getCondition(),
        tree.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(0)), block),
        tree.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(1)), block), ids,
        found);
  }
  return found;
}

}  // namespace omen::loadbalance
