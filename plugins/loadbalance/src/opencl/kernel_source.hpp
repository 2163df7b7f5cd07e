// SPDX-License-Identifier: Apache-2.0
// OpenCL sources: the kernels in them, and the same source with work-item functions that keep their
// unsplit values when a device computes only a part of the range.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "llvm/compile.hpp"
#include "opencl/arguments.hpp"

namespace omen::loadbalance {

struct KernelSource {
  std::string text;                   // what devices build; stands alone
  std::string split_text;             // the same with rewritten built-ins
  std::string build_options;          // for both
  std::vector<Signature> kernels;     // in the order of the source
  std::set<std::string> rewritten;    // built-ins that were found, "get_group_id"
  std::set<std::string> takes_range;  // kernels with the size of the whole range as last argument
  bool preprocessed = false;          // the texts are what the preprocessor makes of the source

  // OMEN_INVALID_ARGUMENT where there is no such kernel, or several and no name.
  const Signature& kernel(const std::string& name) const;
};

// get_group_id, get_num_groups, get_global_size, get_global_offset and get_global_linear_id change
// under an offset. Calls of them, also those in helper functions, become calls of functions that
// compute the unsplit value; where they need its size, functions and kernels get a further
// parameter `ulong4 omen_size`. Calls inside macros and included files are rewritten in the
// preprocessed source. Errors as of compile_opencl.
KernelSource read_kernels(const std::string& source, const std::string& path,
                          const CompileOptions& options);

}  // namespace omen::loadbalance
