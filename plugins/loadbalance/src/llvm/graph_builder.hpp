// SPDX-License-Identifier: Apache-2.0
// LLVM IR to program graphs in the dialect of ProGraML v0.3.2 and its variants.
#pragma once

#include <string>
#include <vector>

#include "graph/program_graph.hpp"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace omen::loadbalance {

enum class Dialect : std::uint8_t {
  kPrograml,    // v0.3.2: one variable node per use
  kTyped,       // with nodes for types, as ProGraML's repository builds them
  kIdentifier,  // one variable node per identifier, values of constants, stores reach loads
};
const char* dialect_name(Dialect dialect);  // as in program_graph.hpp

struct BuildOptions {
  Dialect dialect = Dialect::kPrograml;
  bool full_text = false;          // printed instructions; costs more than all else
  bool instructions_only = false;  // no variables, constants and types
  bool call_returns = true;        // call edges back to the call site and to the root
};

// The graph of the whole module; nodes and edges are numbered by program order. `name` is its name.
ProgramGraph build_graph(const llvm::Module& module, const std::string& name,
                         const BuildOptions& options = {});

// The graph of some functions of a module, which keep their order in the module.
ProgramGraph build_graph(const llvm::Module& module,
                         const std::vector<const llvm::Function*>& functions,
                         const std::string& name, const BuildOptions& options = {});

}  // namespace omen::loadbalance
