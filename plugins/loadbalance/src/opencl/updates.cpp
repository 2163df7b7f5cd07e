// SPDX-License-Identifier: Apache-2.0
// Follows a loaded value to the only place that it goes to.
#include "opencl/updates.hpp"

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "graph/features.hpp"

namespace omen::loadbalance {
namespace {

constexpr int kMostSteps = 16;

// a * b + c, by instruction or by OpenCL's functions.
bool adds_last(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || call.arg_size() != 3) return false;
  const llvm::Intrinsic::ID intrinsic = callee->getIntrinsicID();
  if (intrinsic == llvm::Intrinsic::fmuladd || intrinsic == llvm::Intrinsic::fma) return true;
  const llvm::StringRef name = unmangled(callee->getName());
  return name == "mad" || name == "fma";
}

bool carries_on(const llvm::Use& use) {
  using llvm::Instruction;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser()))
    return adds_last(*call) && use.getOperandNo() == 2;
  const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(use.getUser());
  if (!step) return false;
  switch (step->getOpcode()) {
    case Instruction::Add:
    case Instruction::FAdd:
    case Instruction::Mul:
    case Instruction::FMul:
    case Instruction::Xor:
    case Instruction::Or:
    case Instruction::And:
      return true;
    case Instruction::Sub:
    case Instruction::FSub:
      return use.getOperandNo() == 0;
    default:
      return false;
  }
}

}  // namespace

bool is_update(const llvm::Instruction& load, const llvm::Instruction& store) {
  if (!llvm::isa<llvm::LoadInst>(load) || load.getParent() != store.getParent()) return false;
  const llvm::Value* value = &load;
  for (int step = 0; step < kMostSteps && value->hasOneUse(); ++step) {
    const llvm::Use& use = *value->use_begin();
    if (use.getUser() == &store)
      return llvm::isa<llvm::StoreInst>(store) && use.getOperandNo() == 0;
    if (!carries_on(use)) return false;
    value = use.getUser();
  }
  return false;
}

}  // namespace omen::loadbalance
