// SPDX-License-Identifier: Apache-2.0
// Reads a file at once.
#include "graph_file.hpp"

#include <filesystem>
#include <fstream>
#include <omen/error.hpp>

namespace omen::driple {

std::string read_graph_file(const char* path, const char* component, const char* hint) {
  if (path == nullptr)
    throw Error(OMEN_INVALID_ARGUMENT, std::string(component) + " needs a file", hint);
  constexpr std::uintmax_t kMost = 1ULL << 31;
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  if (failed || !file) throw Error(OMEN_IO, std::string(path) + " cannot be read", hint);
  if (size > kMost)
    throw Error(OMEN_INVALID_DATA, std::string(path) + " is larger than two gigabytes",
                "Keep the weights in a file of their own.");
  std::string content(size, '\0');
  file.read(content.data(), static_cast<std::streamsize>(size));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

}  // namespace omen::driple
