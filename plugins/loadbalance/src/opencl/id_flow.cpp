// SPDX-License-Identifier: Apache-2.0
// Passes bits from ids to everything that is computed from them, until nothing changes.
#include "opencl/id_flow.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "graph/features.hpp"
#include "opencl/address_spaces.hpp"

namespace omen::loadbalance {
namespace {

// A cut to 32 bits tells the ids of every real range apart.
bool is_cut(const llvm::Instruction& instruction) {
  const auto* mask = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  return mask && mask->getValue().isMask() && mask->getValue().countTrailingOnes() >= 31;
}

bool folds(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::And:
      return !is_cut(instruction);
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::Xor:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
    case llvm::Instruction::Select:
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
      return true;
    default:
      return false;
  }
}

// The conditions that decide which of its values a phi takes; those of loops decide how often they
// go round, which is not looked at here.
std::vector<const llvm::Value*> conditions_of(const llvm::PHINode& phi,
                                              const llvm::DominatorTree& tree) {
  std::vector<const llvm::Value*> conditions;
  const llvm::DomTreeNode* own = tree.getNode(phi.getParent());
  if (!own || !own->getIDom()) return conditions;
  for (const llvm::BasicBlock* from : phi.blocks()) {
    if (tree.dominates(phi.getParent(), from)) return {};
    for (const llvm::DomTreeNode* node = tree.getNode(from); node; node = node->getIDom()) {
      const llvm::Instruction* end = node->getBlock()->getTerminator();
      if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
          branch && branch->isConditional())
        conditions.push_back(branch->getCondition());
      else if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(end))
        conditions.push_back(choice->getCondition());
      if (node == own->getIDom()) break;
    }
  }
  return conditions;
}

}  // namespace

IdFlow::IdFlow(llvm::Function& kernel) {
  const llvm::DominatorTree tree(kernel);
  for (const llvm::Instruction& instruction : llvm::instructions(kernel))
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
      deciders_[phi] = conditions_of(*phi, tree);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
      const unsigned now = bits_of(instruction);
      unsigned& known = bits_[&instruction];
      changed |= (now | known) != known;
      known |= now;
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        changed |= remember(store->getPointerOperand(), of(store->getValueOperand()));
    }
  }
}

unsigned IdFlow::of(const llvm::Value* value) const {
  const auto at = bits_.find(value);
  return at == bits_.end() ? 0 : at->second;
}

// What a private or local object holds depends on all that is stored into it.
bool IdFlow::remember(const llvm::Value* pointer, unsigned stored) {
  unsigned& known = contents_[llvm::getUnderlyingObject(pointer, 0)];
  const bool changed = (known | stored) != known;
  known |= stored;
  return changed;
}

unsigned IdFlow::bits_of(const llvm::Instruction& instruction) const {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return bits_of_call(*call);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const llvm::Value* object = llvm::getUnderlyingObject(load->getPointerOperand(), 0);
    const auto held = contents_.find(object);
    const unsigned place = of(load->getPointerOperand());
    const bool own =
        llvm::isa<llvm::AllocaInst>(object) || load->getPointerAddressSpace() == kLocalSpace;
    return (held == contents_.end() ? 0 : held->second) | place | (place && !own ? kDataBit : 0);
  }
  unsigned joined = 0;
  for (const llvm::Value* operand : instruction.operand_values()) joined |= of(operand);
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
    for (const llvm::Value* condition : deciders_.at(phi))
      if (of(condition)) joined |= kFoldedBit;
  return joined & kGroupBits && folds(instruction) ? joined | kFoldedBit : joined;
}

unsigned IdFlow::bits_of_call(const llvm::CallBase& call) const {
  const llvm::Function* callee = call.getCalledFunction();
  const llvm::StringRef name = callee ? unmangled(callee->getName()) : "";
  if (name == "get_global_linear_id") return kGroupBits;
  if (name == "get_local_id" || name == "get_local_linear_id") return kLocalBit;
  if (name == "get_global_id" || name == "get_group_id") {
    const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (!dimension) return kGroupBits;
    return dimension->getZExtValue() < 3 ? 1U << dimension->getZExtValue() : 0;
  }
  unsigned joined = 0;
  for (const llvm::Value* argument : call.args()) {
    joined |= of(argument);
    if (argument->getType()->isPointerTy()) {
      const auto held = contents_.find(llvm::getUnderlyingObject(argument, 0));
      if (held != contents_.end()) joined |= held->second;
    }
  }
  return joined & kGroupBits && !call.getType()->isVoidTy() ? joined | kFoldedBit : joined;
}

}  // namespace omen::loadbalance
