// SPDX-License-Identifier: Apache-2.0
// The bytes of a file.
#pragma once

#include <cstdint>
#include <string>

namespace omen::power {

inline constexpr std::uintmax_t kMostText = 64U << 20;
// Throws OMEN_IO where it cannot be read, OMEN_INVALID_DATA where it has more bytes.
std::string read_text_file(const std::string& path, std::uintmax_t most_bytes = kMostText);
// What complaints call it: the last part of its path.
std::string file_name(const std::string& path);

}  // namespace omen::power
