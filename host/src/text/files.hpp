// SPDX-License-Identifier: Apache-2.0
// Whole files as texts.
#pragma once

#include <filesystem>
#include <string>

namespace omen::host {

// OMEN_IO with the reason.
std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace omen::host
