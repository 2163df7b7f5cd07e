// SPDX-License-Identifier: Apache-2.0
// Host code in C that runs a kernel divided between two devices.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "opencl/split_job.hpp"

namespace omen::loadbalance {

// Without devices the program chooses its own: a processor and a GPU, else the first two, else the
// halves of the only one.
using EmittedDevices = std::optional<std::array<OpenClDevice, 2>>;

// A complete program for C99 and OpenCL 1.2: it holds the rewritten kernel, makes the arguments of
// the launch, runs both parts at once and merges what they wrote, unless they wrote the same place.
// `path` is named in its head.
std::string emit_host_code(const KernelLaunch& launch, const EmittedDevices& devices, double share,
                           const std::string& path);

}  // namespace omen::loadbalance
