// SPDX-License-Identifier: Apache-2.0
// SPIR-V to LLVM bitcode, by the translator of Khronos where it is installed.
#pragma once

#include <omen/plugin.hpp>
#include <string>

namespace omen::loadbalance {

// OMEN_UNAVAILABLE without the translator, OMEN_INVALID_DATA with its words where it refuses the
// file.
std::string bitcode_of_spirv(const std::string& path, const Run& run);

}  // namespace omen::loadbalance
