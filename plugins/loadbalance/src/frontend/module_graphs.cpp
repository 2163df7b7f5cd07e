// SPDX-License-Identifier: Apache-2.0
// Picks kernels and builds their graphs; compiled once for each LLVM.
#include "frontend/module_graphs.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <filesystem>

#include "graph/cdfg.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/kernels.hpp"

namespace omen::loadbalance {
namespace fs = std::filesystem;
namespace {

std::string names_of(const std::vector<const llvm::Function*>& functions) {
  std::string text;
  for (const llvm::Function* function : functions)
    text += (text.empty() ? "" : ", ") + function->getName().str();
  return text;
}

// The function called `name`, a kernel or not.
const llvm::Function* find_kernel(const llvm::Module& module, const std::string& name,
                                  const std::vector<const llvm::Function*>& kernels,
                                  const char* path) {
  const llvm::Function* function = module.getFunction(name);
  if (function && !function->isDeclaration()) return function;
  throw Error(OMEN_NOT_FOUND, std::string(path) + " has no kernel '" + name + "'",
              kernels.empty() ? "It defines no kernel." : "It defines " + names_of(kernels) + ".");
}

Dialect dialect_of(const std::string& name) {
  if (name == "typed") return Dialect::kTyped;
  return name == "identifier" ? Dialect::kIdentifier : Dialect::kPrograml;
}

}  // namespace

std::vector<ProgramGraph> graphs_of(const IrModule& module, const char* path,
                                    const GraphRequest& request, const Run& run) {
  BuildOptions build;
  build.dialect = dialect_of(request.dialect);
  build.full_text = request.full_text;
  build.instructions_only = request.instructions_only;
  std::vector<const llvm::Function*> kernels = kernels_of(module.get());
  if (!request.kernel.empty()) kernels = {find_kernel(module.get(), request.kernel, kernels, path)};
  const bool from_source = module.compiled != "ir";
  const bool by_kernel = !request.kernel.empty() || request.scope == "kernel" ||
                         (request.scope == "auto" && from_source);
  if (!by_kernel) return {build_graph(module.get(), fs::path(path).stem().string(), build)};
  if (kernels.empty())
    throw Error(OMEN_INVALID_DATA, std::string(path) + " defines no kernel",
                "Mark a function with __kernel, or take the whole file with --scope module.");
  std::vector<ProgramGraph> graphs;
  for (const llvm::Function* kernel : kernels) {
    run.step(static_cast<double>(graphs.size()) / static_cast<double>(kernels.size()), "graphs");
    graphs.push_back(
        build_graph(module.get(), with_callees(*kernel), kernel->getName().str(), build));
  }
  return graphs;
}

// Models were trained without debug information, whose calls would be nodes like any other.
void settle_debug_info(const IrModule& module, bool strip, const char* path, const char* who) {
  if (strip) {
    llvm::StripDebugInfo(module.get());
    return;
  }
  for (const llvm::Function& function : module.get())
    if (function.getName().substr(0, 9) == "llvm.dbg.")
      return log(OMEN_LOG_WARN, who,
                 std::string(path) +
                     " holds debug information, whose calls become nodes; drop it with "
                     "--strip-debug");
}

const char* table_dialect(const std::string& option) {
  return option == "cdfg" ? kCdfgDialect : dialect_name(dialect_of(option));
}

void add_module_columns(TableBuilder& table, const std::vector<ProgramGraph>& graphs,
                        const IrModule& module, const char* path, bool module_facts) {
  std::vector<std::int64_t> ids;
  std::vector<std::string> names;
  for (const ProgramGraph& graph : graphs) {
    ids.push_back(static_cast<std::int64_t>(ids.size()));
    names.push_back(graph.name);
  }
  const std::vector<std::int32_t> first(ids.size(), 0);
  table.add("workload_id", ids)
      .add("graph_id", ids)
      .add_strings("name", names)
      .add_dictionary("group", first, {fs::path(path).filename().string()})
      .add_dictionary("compiled", first, {module.compiled});
  if (module_facts)
    table.add_dictionary("target_triple", first, {module.get().getTargetTriple()})
        .add_dictionary("data_layout", first, {module.get().getDataLayoutStr()});
}

}  // namespace omen::loadbalance
