// SPDX-License-Identifier: Apache-2.0
// An LLVM module with the context that it lives in, behind a header without LLVM's own.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace omen::loadbalance {

class IrModule {
 public:
  IrModule(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module);
  IrModule(IrModule&&) noexcept;
  IrModule& operator=(IrModule&&) noexcept;
  ~IrModule();

  llvm::Module& get() const { return *module_; }

  std::string compiled;     // canonical settings of the compilation, or "ir"
  std::string diagnostics;  // warnings, as Clang prints them

 private:
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
};

}  // namespace omen::loadbalance
