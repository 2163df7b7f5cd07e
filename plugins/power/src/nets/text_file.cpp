// SPDX-License-Identifier: Apache-2.0
// Reads whole files with a bound.
#include "nets/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <omen/error.hpp>

namespace omen::power {

std::string read_text_file(const std::string& path, std::uintmax_t most_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) &&
      std::filesystem::file_size(path, ignored) > most_bytes)
    throw Error(OMEN_INVALID_DATA,
                file_name(path) + " is larger than " + std::to_string(most_bytes >> 20) + " MB",
                "Split the file.");
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored))
    throw Error(OMEN_IO, "cannot open '" + path + "'", "Check the path.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace omen::power
