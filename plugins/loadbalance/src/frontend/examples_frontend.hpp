// SPDX-License-Identifier: Apache-2.0
// loadbalance.examples: programs to data-flow questions with their answers.
#pragma once

#include <omen/plugin.hpp>
#include <string>

namespace omen::loadbalance {

struct ExamplesOptions {
  std::string task = "reachability", kernel;
  std::int64_t roots = 10, max_steps = 30;
  double root_share = 0.1;
  bool compat = false;

  static auto spec() {
    using O = ExamplesOptions;
    return options(
        opt(&O::task, "task", "analysis that answers the questions")
            .choices("reachability", "dominance", "datadep", "liveness", "subexpressions"),
        opt(&O::roots, "roots", "most questions about one graph").range(1, 1000000),
        opt(&O::root_share, "root_share", "share of the nodes that can be asked about").range(0, 1),
        opt(&O::max_steps, "max_steps", "leave out questions that need more steps; 0: none")
            .range(0, 1000000),
        opt(&O::compat, "compat", "answer with the quirks of the published generators"),
        opt(&O::kernel, "kernel", "only this kernel, with the functions that it calls"));
  }
};

// The graphs of loadbalance.programl with workloads, node_features and node_targets of examples.
// It knows the same files, but stands back: name it with --with.
class ExamplesFrontend final : public GraphFrontend {
 public:
  explicit ExamplesFrontend(ExamplesOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  ExamplesOptions options_;
};

}  // namespace omen::loadbalance
