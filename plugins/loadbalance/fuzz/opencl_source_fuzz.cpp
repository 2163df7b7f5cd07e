// SPDX-License-Identifier: Apache-2.0
// OpenCL sources of any kind: Clang's diagnostics, or a module whose kernels have graphs.
// needs: loadbalance_llvm
// covers: plugins/loadbalance/src/llvm/clang_session.cpp
// covers: plugins/loadbalance/src/llvm/compile.cpp
#include <cstdint>
#include <cstdlib>
#include <string>

#include "guarded_llvm.hpp"
#include "llvm/compile.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/kernels.hpp"

namespace {

using namespace omen::loadbalance;

// The first byte picks the settings.
CompileOptions options_from(std::uint8_t choice) {
  CompileOptions options;
  options.opt_level = choice & 1;
  if (choice & 2) options.target = "spir64-unknown-unknown";
  if (choice & 4) options.cl_std = "CL2.0";
  if (choice & 8) options.defines = {"N=4"};
  if (choice & 16) options.include_dirs = {"nowhere"};
  if (choice & 32) options.includes = {"nowhere.h"};
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string source(reinterpret_cast<const char*>(data) + 1, size - 1);
  // Pragmas that make Clang hang or crash on purpose, and headers of this machine, find nothing
  // new.
  if (source.find("pragma") != source.npos || source.find("include") != source.npos) return 0;
  try {
    const IrModule module = compile_opencl(source, "fuzz.cl", options_from(data[0]));
    for (const llvm::Function* kernel : kernels_of(module.get()))
      if (build_graph(module.get(), with_callees(*kernel), "kernel").nodes.empty()) std::abort();
  } catch (const omen::Error& error) {
    if (error.hint().empty()) std::abort();
  }
  return 0;
}
