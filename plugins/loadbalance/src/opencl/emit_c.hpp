// SPDX-License-Identifier: Apache-2.0
// Host code in C that runs a kernel divided between two devices.
#pragma once

#include <string>

#include "opencl/split_job.hpp"

namespace omen::loadbalance {

// A complete program for C99 and OpenCL 1.2: it holds the rewritten kernel, makes the arguments of
// the job, runs both parts at once and merges what they wrote. `path` is named in its head.
std::string emit_host_code(const SplitJob& job, double share, const std::string& path);

}  // namespace omen::loadbalance
