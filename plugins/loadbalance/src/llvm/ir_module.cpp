// SPDX-License-Identifier: Apache-2.0
// Keeps a module and its context together; the module goes first.
#include "llvm/ir_module.hpp"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <utility>

namespace omen::loadbalance {

IrModule::IrModule(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module)
    : context_(std::move(context)), module_(std::move(module)) {}
IrModule::IrModule(IrModule&&) noexcept = default;
IrModule::~IrModule() = default;

IrModule& IrModule::operator=(IrModule&& other) noexcept {
  module_ = std::move(other.module_);
  context_ = std::move(other.context_);
  compiled = std::move(other.compiled);
  diagnostics = std::move(other.diagnostics);
  return *this;
}

}  // namespace omen::loadbalance
