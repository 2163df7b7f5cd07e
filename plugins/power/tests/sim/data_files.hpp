// SPDX-License-Identifier: Apache-2.0
// Files of the public data, and their text.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace omen::power {

// Empty where OMEN_DATA does not hold the file.
inline std::string data_file(const std::string& name) {
  const char* root = std::getenv("OMEN_DATA");
  if (!root) return {};
  const std::filesystem::path path = std::filesystem::path(root) / "power" / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace omen::power
