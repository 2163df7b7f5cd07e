// SPDX-License-Identifier: Apache-2.0
// loadbalance.programl: OpenCL C and LLVM IR to program graphs.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace omen::loadbalance {

struct ProgramlOptions {
  std::string dialect = "programl", scope = "auto", kernel, inst2vec;
  std::string cl_std = "CL1.2", target = "x86_64-unknown-linux-gnu";
  int opt_level = 2;
  std::vector<std::string> define, include_dir, include;
  bool full_text = false, instructions_only = false, strip_debug = false, counts = true;
  bool divisible = true, module_facts = false;

  static auto spec() {
    using O = ProgramlOptions;
    return options(
        opt(&O::kernel, "kernel", "only this kernel, with the functions that it calls"),
        opt(&O::scope, "scope",
            "kernel: one graph for each kernel with its callees; module: the whole file; auto: "
            "kernels of OpenCL sources, else the whole file")
            .choices("auto", "kernel", "module"),
        opt(&O::dialect, "dialect",
            "programl: ProGraML v0.3.2; typed: with nodes for types; identifier: one node per "
            "identifier, values of constants, stores reach loads; cdfg: instructions only, joined "
            "where values flow")
            .choices("programl", "typed", "identifier", "cdfg"),
        opt(&O::cl_std, "cl_std", "OpenCL C version of the sources")
            .choices("CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"),
        opt(&O::opt_level, "opt_level", "optimisation, as Clang's -O").range(0, 3),
        opt(&O::target, "target",
            "target triple; spir64-unknown-unknown keeps address spaces. Bundled models were "
            "trained on the default"),
        opt(&O::define, "define", "macro for the compiler, NAME or NAME=VALUE, as Clang's -D"),
        opt(&O::include_dir, "include_dir", "directory with headers, as Clang's -I"),
        opt(&O::include, "include", "file to include before the first line, as Clang's -include"),
        opt(&O::full_text, "full_text", "add the printed instruction of each node; slower"),
        opt(&O::inst2vec, "inst2vec",
            "file of inst2vec's statements, one [id, \"statement\"] a line; adds their ids to "
            "nodes"),
        opt(&O::divisible, "divisible",
            "tell of kernels in sources whether their work-groups can be divided between devices; "
            "this "
            "compiles them a second time"),
        opt(&O::counts, "counts",
            "count operations and memory accesses of sources, in the same second compilation"),
        opt(&O::strip_debug, "strip_debug",
            "drop debug information from IR first; its calls are nodes otherwise"),
        opt(&O::module_facts, "module_facts",
            "add target triple and data layout to workloads; messages ask for them")
            .advanced(),
        opt(&O::instructions_only, "instructions_only", "leave out variables and constants")
            .advanced());
  }
};

class ProgramlFrontend final : public GraphFrontend {
 public:
  explicit ProgramlFrontend(ProgramlOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  ProgramlOptions options_;
};

}  // namespace omen::loadbalance
