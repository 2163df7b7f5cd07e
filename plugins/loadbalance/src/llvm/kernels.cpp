// SPDX-License-Identifier: Apache-2.0
// Finds kernels by their calling convention or metadata, and follows references between functions.
#include "llvm/kernels.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

namespace omen::loadbalance {
namespace {

bool has_kernel_convention(const llvm::Function& function) {
  switch (function.getCallingConv()) {
    case llvm::CallingConv::SPIR_KERNEL:
    case llvm::CallingConv::PTX_Kernel:
    case llvm::CallingConv::AMDGPU_KERNEL:
      return true;
    default:
      return function.getMetadata("kernel_arg_addr_space") != nullptr;
  }
}

// Functions listed in a named node, as older compilers wrote them: {kernel, ...}.
void add_listed(const llvm::Module& module, const char* node,
                llvm::SmallPtrSetImpl<const llvm::Function*>& kernels) {
  const llvm::NamedMDNode* list = module.getNamedMetadata(node);
  if (!list) return;
  for (const llvm::MDNode* entry : list->operands())
    if (entry->getNumOperands() > 0)
      if (const auto* value =
              llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(entry->getOperand(0).get()))
        if (const auto* function = llvm::dyn_cast<llvm::Function>(value->getValue()))
          kernels.insert(function);
}

}  // namespace

std::vector<const llvm::Function*> kernels_of(const llvm::Module& module) {
  llvm::SmallPtrSet<const llvm::Function*, 8> listed;
  add_listed(module, "opencl.kernels", listed);
  add_listed(module, "nvvm.annotations", listed);
  std::vector<const llvm::Function*> kernels;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration() && (has_kernel_convention(function) || listed.count(&function)))
      kernels.push_back(&function);
  return kernels;
}

std::vector<const llvm::Function*> with_callees(const llvm::Function& function) {
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  std::vector<const llvm::Value*> todo{&function};
  seen.insert(&function);
  const auto add = [&](const llvm::Value* value) {
    if (llvm::isa<llvm::Constant>(value) && seen.insert(value).second) todo.push_back(value);
  };
  while (!todo.empty()) {
    const llvm::Value* value = todo.back();
    todo.pop_back();
    // Constant expressions, aliases and initialisers lead on to the functions that they mention.
    if (const auto* user = llvm::dyn_cast<llvm::User>(value))
      for (const llvm::Value* operand : user->operand_values()) add(operand);
    if (const auto* reached = llvm::dyn_cast<llvm::Function>(value))
      for (const llvm::BasicBlock& block : *reached)
        for (const llvm::Instruction& instruction : block)
          for (const llvm::Value* operand : instruction.operand_values()) add(operand);
  }
  std::vector<const llvm::Function*> functions;
  for (const llvm::Function& candidate : *function.getParent())
    if (seen.count(&candidate)) functions.push_back(&candidate);
  return functions;
}

}  // namespace omen::loadbalance
