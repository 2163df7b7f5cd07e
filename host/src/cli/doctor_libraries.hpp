// SPDX-License-Identifier: Apache-2.0
// What a plugin's library needs and this machine lacks, found without running any of its code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace omen::host::cli {

// Names such as "libfoo.so.1"; empty where everything is found, or where nothing can be said.
std::vector<std::string> missing_libraries(const std::filesystem::path& library);

}  // namespace omen::host::cli
