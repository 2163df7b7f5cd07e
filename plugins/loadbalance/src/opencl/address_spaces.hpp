// SPDX-License-Identifier: Apache-2.0
// Numbers that the SPIR targets give to the memories of OpenCL.
#pragma once

namespace omen::loadbalance {

constexpr unsigned kGlobalSpace = 1, kLocalSpace = 3;

}  // namespace omen::loadbalance
