// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files.
#include "text/files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "omen/error.hpp"

namespace omen::host {
namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw Error(OMEN_IO, "file '" + path.string() + "' cannot be read: " + std::strerror(errno));
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw Error(OMEN_IO, "file '" + path.string() + "' cannot be written: " + std::strerror(errno),
                "check that its directory exists and that there is space");
}

}  // namespace omen::host
