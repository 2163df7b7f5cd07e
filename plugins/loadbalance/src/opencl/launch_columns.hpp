// SPDX-License-Identifier: Apache-2.0
// Launches as `workloads` describes them: wgsize and input_size, or global and local sizes.
#pragma once

#include <limits>
#include <vector>

#include "omen/table.hpp"
#include "opencl/launch.hpp"

namespace omen::loadbalance {

struct LaunchFigures {
  double wgsize = std::numeric_limits<double>::quiet_NaN();      // work-items of a group
  double input_size = std::numeric_limits<double>::quiet_NaN();  // bytes of all buffers
  Sizes global, local;                                           // a count of 0: not given
};

// A row each; what is not given stays unknown. `local` gives the work-items of a group, and
// `global` the bytes where `input_size` is unknown. OMEN_INVALID_ARGUMENT for what is no size: a
// text, a negative number, a fraction, or 0 in every row (tables write 0 where a size is unknown).
std::vector<LaunchFigures> launch_figures(const Table& workloads);

}  // namespace omen::loadbalance
