// SPDX-License-Identifier: Apache-2.0
// OpenCL C to LLVM IR by Clang 14 as a library: no other process, no file written.
#pragma once

#include <string>
#include <vector>

#include "llvm/ir_module.hpp"

namespace omen::loadbalance {

// The defaults are those of the IR that models were trained on. `spir64-unknown-unknown` as target
// keeps address spaces.
struct CompileOptions {
  std::string cl_std = "CL1.2";
  std::string target = "x86_64-unknown-linux-gnu";
  int opt_level = 2;
  std::vector<std::string> defines;       // NAME or NAME=VALUE
  std::vector<std::string> include_dirs;  // searched after the directory of the source
  std::vector<std::string> includes;      // files included before the first line
};

// "CL1.2 -O2 x86_64-unknown-linux-gnu": what a model records, so that it can warn about others.
std::string canonical_settings(const CompileOptions& options);

// Compiles `source`; `path` names it in diagnostics, and its directory is searched for includes.
// OMEN_INVALID_DATA with Clang's diagnostics, file and line included, where it does not compile;
// OMEN_UNAVAILABLE where Clang's own headers are not installed. A crash or fatal error of Clang is
// an OMEN_INVALID_DATA too. Thread-safe.
IrModule compile_opencl(const std::string& source, const std::string& path,
                        const CompileOptions& options = {});

// The same source for spir64, whose IR has address spaces, as Clang hands it to the optimiser: it
// follows the text, every variable is a piece of memory, and instructions know their lines. Target
// and level of `options` do not count. Errors as of compile_opencl.
IrModule compile_for_spir(const std::string& source, const std::string& path,
                          CompileOptions options = {});

}  // namespace omen::loadbalance
