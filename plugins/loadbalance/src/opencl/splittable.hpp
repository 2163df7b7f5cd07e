// SPDX-License-Identifier: Apache-2.0
// Whether the work-groups of a kernel may be divided between devices that do not see each other's
// memory.
#pragma once

#include <map>
#include <string>

#include "llvm/compile.hpp"
#include "opencl/split_verdict.hpp"

namespace omen::loadbalance {

// Groups are independent where none reads or overwrites what another one writes: no atomics on
// global memory, every store at a place that depends on the group, and no load from a buffer where
// a store of another work-item may reach its place. Different parameters are taken to be different
// memory, rows of unknown length (id * n + k) to lie side by side, and indices to stay within the
// dimension of their array. Judged on the optimised IR of `kernel` with everything
// inlined; what cannot be told counts against the kernel. Errors as of compile_opencl.
SplitVerdict judge_split(const std::string& source, const std::string& path,
                         const CompileOptions& options, const std::string& kernel);

// The same for every kernel of a module that compile_for_spir gave, by name; `path` names it in
// errors.
std::map<std::string, SplitVerdict> judge_kernels(IrModule spir, const std::string& path);

}  // namespace omen::loadbalance
