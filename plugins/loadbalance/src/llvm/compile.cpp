// SPDX-License-Identifier: Apache-2.0
// Clang's front end and optimiser in this process.
#include "llvm/compile.hpp"

#include <clang/CodeGen/CodeGenAction.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "llvm/clang_session.hpp"
#include "llvm/guard.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

IrModule compile(const std::string& source, const std::string& path, const CompileOptions& options,
                 const std::vector<std::string>& further) {
  auto context = std::make_unique<llvm::LLVMContext>();
  clang::EmitLLVMOnlyAction action(context.get());
  const std::string diagnostics = run_clang(action, source, path, options, further);
  std::unique_ptr<llvm::Module> module = action.takeModule();
  if (!module) throw Error(OMEN_INVALID_DATA, path + " does not compile\n" + diagnostics);
  IrModule result(std::move(context), std::move(module));
  result.compiled = canonical_settings(options);
  result.diagnostics = diagnostics;
  return result;
}

IrModule compile_guarded(const std::string& source, const std::string& path,
                         const CompileOptions& options,
                         const std::vector<std::string>& further = {}) {
  prepare_clang();
  std::optional<IrModule> result;
  run_guarded("Clang", path, [&] { result = compile(source, path, options, further); });
  return std::move(*result);
}

}  // namespace

std::string canonical_settings(const CompileOptions& options) {
  return options.cl_std + " -O" + std::to_string(options.opt_level) + " " + options.target;
}

IrModule compile_opencl(const std::string& source, const std::string& path,
                        const CompileOptions& options) {
  return compile_guarded(source, path, options);
}

IrModule compile_for_spir(const std::string& source, const std::string& path,
                          CompileOptions options) {
  options.target = "spir64-unknown-unknown";
  // Level 0 would forbid every later optimisation; the passes of level 1 are run by who needs them.
  options.opt_level = 1;
  return compile_guarded(source, path, options,
                         {"-disable-llvm-passes", "-debug-info-kind=line-tables-only"});
}

}  // namespace omen::loadbalance
