// SPDX-License-Identifier: Apache-2.0
// Clang's own passes do the work.
#include "opencl/inlined_kernels.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "graph/features.hpp"
#include "llvm/kernels.hpp"

namespace omen::loadbalance {
namespace {

void mark_for_inlining(llvm::Module& module, const std::string& wanted) {
  llvm::SmallPtrSet<const llvm::Function*, 8> judged;
  for (const llvm::Function* kernel : kernels_of(module))
    if (wanted.empty() || kernel->getName() == wanted) judged.insert(kernel);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    if (!judged.count(&function)) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

// Ids and sizes are the same whenever they are asked for, so that loops can do without asking.
void mark_ids(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!function.isDeclaration() || !name.startswith("_Z") ||
        !llvm::StringRef(unmangled(name)).startswith("get_"))
      continue;
    function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.addFnAttr(llvm::Attribute::WillReturn);
    function.removeFnAttr(llvm::Attribute::Convergent);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user))
        call->removeFnAttr(llvm::Attribute::Convergent);
  }
}

// What Clang does at -O1 with each function, once all calls are gone.
void simplify(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(nullptr, tuning);
  functions.registerPass([&] { return builder.buildDefaultAAPipeline(); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(builder.buildFunctionSimplificationPipeline(
          llvm::OptimizationLevel::O1, llvm::ThinOrFullLTOPhase::None)));
  passes.run(module, modules);
}

}  // namespace

void inline_kernels(llvm::Module& module, const std::string& wanted) {
  mark_for_inlining(module, wanted);
  mark_ids(module);
  simplify(module);
}

}  // namespace omen::loadbalance
