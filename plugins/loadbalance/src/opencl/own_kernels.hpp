// SPDX-License-Identifier: Apache-2.0
// Kernels of this project with their launches: what `omen loadbalance calibrate` and the checks
// run.
#pragma once

#include <string>
#include <vector>

namespace omen::loadbalance {

struct OwnKernel {
  const char* name;  // of the kernel
  const char* source;
  const char *global, *local;     // as --global and --local take them
  std::vector<std::string> args;  // as --arg takes them
};

// Twelve that can be divided: streams, arithmetic, matrices, uneven work, stencils in two and three
// dimensions, groups that work together, and all built-ins that change under an offset.
const std::vector<OwnKernel>& divisible_kernels();

// Six that cannot, each for a reason of its own.
const std::vector<OwnKernel>& indivisible_kernels();

}  // namespace omen::loadbalance
