// SPDX-License-Identifier: Apache-2.0
// Opening plugin libraries: the part of loading that needs no manifest.
#ifndef OMEN_HOST_LIBRARY_HPP
#define OMEN_HOST_LIBRARY_HPP

#include <filesystem>
#include <string>

#include "omen/abi.h"

namespace omen::host {

// Checks the export, opens the library for ever, calls its entry and checks both ABI numbers. `who`
// starts every message.
const omen_plugin& open_plugin_library(const std::string& who, const std::filesystem::path& path);

// Throws OMEN_UNSUPPORTED naming both versions unless the majors are equal and the minor is not
// newer.
void check_abi(const std::string& who, std::uint32_t major, std::uint32_t minor);

// Opens libcuda.so.1 and initialises it once; false where there is no driver or no device.
bool start_cuda_driver();

}  // namespace omen::host

#endif  // OMEN_HOST_LIBRARY_HPP
