// SPDX-License-Identifier: Apache-2.0
// The static counts behind the four features of Grewe et al. (doi:10.1109/CGO.2013.6494993).
#pragma once

#include <string>
#include <vector>

#include "llvm/compile.hpp"

namespace omen::loadbalance {

// Counted as the published tables of devmap count: by the text of the program, each place once,
// however often it runs. Models were trained on those tables, so their conventions are kept.
struct GreweCounts {
  std::string kernel;
  double comp = 0;       // arithmetic, and calls of mathematical functions
  double rational = 0;   // comparisons
  double mem = 0;        // uses of parameters that point to global memory, and localmem
  double localmem = 0;   // accesses to memory that a work-group shares
  double coalesced = 0;  // global memory whose last index is a variable, a constant, or their sum
  double atomic = 0;     // atomic operations
};

// One entry per kernel, with the functions that it calls; `spir` is what compile_for_spir gives,
// and `path` names it in errors.
std::vector<GreweCounts> count_grewe(const IrModule& spir, const std::string& path);

// The same with the compilation. Throws as compile_opencl does.
std::vector<GreweCounts> count_grewe(const std::string& source, const std::string& path,
                                     const CompileOptions& options);

}  // namespace omen::loadbalance
