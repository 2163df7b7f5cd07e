// SPDX-License-Identifier: Apache-2.0
// loadbalance.programl19: IR of LLVM 15 to 19 and SPIR-V to program graphs.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <string_view>

namespace omen::loadbalance {

struct NewerOptions {
  std::string dialect = "programl", scope = "auto", kernel;
  bool full_text = false, instructions_only = false, strip_debug = false, module_facts = false;

  static auto spec() {
    using O = NewerOptions;
    return options(
        opt(&O::kernel, "kernel", "only this kernel, with the functions that it calls"),
        opt(&O::scope, "scope",
            "kernel: one graph for each kernel with its callees; module, auto: the whole file")
            .choices("auto", "kernel", "module"),
        opt(&O::dialect, "dialect", "as of loadbalance.programl, with 'ptr' for every pointer")
            .choices("programl", "typed", "identifier", "cdfg"),
        opt(&O::full_text, "full_text", "add the printed instruction of each node; slower"),
        opt(&O::strip_debug, "strip_debug",
            "drop debug information first; its calls are nodes otherwise"),
        opt(&O::module_facts, "module_facts",
            "add target triple and data layout to workloads; messages ask for them")
            .advanced(),
        opt(&O::instructions_only, "instructions_only", "leave out variables and constants")
            .advanced());
  }
};

class NewerFrontend final : public GraphFrontend {
 public:
  explicit NewerFrontend(NewerOptions options) : options_(std::move(options)) {}
  // Only what loadbalance.programl cannot read: it stays with all IR of its own version.
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  NewerOptions options_;
};

}  // namespace omen::loadbalance
