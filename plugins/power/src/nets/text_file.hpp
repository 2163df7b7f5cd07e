// SPDX-License-Identifier: Apache-2.0
// The text of a small file.
#pragma once

#include <string>

namespace omen::power {

// Throws OMEN_IO where it cannot be read, OMEN_INVALID_DATA above 64 MB.
std::string read_text_file(const std::string& path);
// What complaints call it: the last part of its path.
std::string file_name(const std::string& path);

}  // namespace omen::power
