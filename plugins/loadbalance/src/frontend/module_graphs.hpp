// SPDX-License-Identifier: Apache-2.0
// Modules of any LLVM to graphs of their kernels and to the first columns of their workloads.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

#include "graph/program_graph.hpp"
#include "llvm/ir_module.hpp"

namespace omen::loadbalance {

struct GraphRequest {
  std::string dialect = "programl", scope = "auto", kernel;
  bool full_text = false, instructions_only = false;
};

// One graph for each kernel with its callees, or one for the whole module. OMEN_NOT_FOUND and
// OMEN_INVALID_DATA where the kernels that were asked for are not there.
std::vector<ProgramGraph> graphs_of(const IrModule& module, const char* path,
                                    const GraphRequest& request, const Run& run);

// Drops debug information, or warns that its calls become nodes; `who` is the component.
void settle_debug_info(const IrModule& module, bool strip, const char* path, const char* who);

// The dialect of the tables, by its option.
const char* table_dialect(const std::string& option);

// Numbers, names, the file, and how the module was made.
void add_module_columns(TableBuilder& table, const std::vector<ProgramGraph>& graphs,
                        const IrModule& module, const char* path, bool module_facts);

}  // namespace omen::loadbalance
