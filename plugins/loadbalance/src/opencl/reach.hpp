// SPDX-License-Identifier: Apache-2.0
// How far a kernel reaches into each of its buffers, as far as ids, loops and sizes tell.
#pragma once

#include <string>
#include <vector>

#include "llvm/compile.hpp"
#include "opencl/bound.hpp"

namespace omen::loadbalance {

// By parameter: where accesses end, in bytes from the start of the buffer. Accesses at places that
// data decide are left out, and what guards an access is not looked at. Errors as of
// compile_opencl.
std::vector<std::vector<Bound>> read_reach(const std::string& source, const std::string& path,
                                           const CompileOptions& options,
                                           const std::string& kernel);

}  // namespace omen::loadbalance
