// SPDX-License-Identifier: Apache-2.0
// loadbalance.kernels: an OpenCL kernel as those need it who run it in another process.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace omen::loadbalance {

struct KernelsOptions {
  std::string kernel, cl_std = "CL1.2";
  std::vector<std::string> define, include_dir, include;

  static auto spec() {
    using O = KernelsOptions;
    return options(opt(&O::kernel, "kernel", "the kernel; not needed where the file has one"),
                   opt(&O::cl_std, "cl_std", "OpenCL C version of the source")
                       .choices("CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"),
                   opt(&O::define, "define", "macro for the compiler, NAME or NAME=VALUE"),
                   opt(&O::include_dir, "include_dir", "directory with headers"),
                   opt(&O::include, "include", "file to include before the first line"));
  }
};

// One workload without a graph: its name, whether it can be divided, and the text of a
// RunnableKernel. It claims no file: other components call it.
class KernelsFrontend final : public GraphFrontend {
 public:
  explicit KernelsFrontend(KernelsOptions options) : options_(std::move(options)) {}
  static int sniff(const char*, std::string_view) { return 0; }
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  KernelsOptions options_;
};

}  // namespace omen::loadbalance
