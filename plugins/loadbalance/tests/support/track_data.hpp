// SPDX-License-Identifier: Apache-2.0
// The track's public data for tests: where it lies, and archives unpacked once per build tree.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace omen::loadbalance::testing {

namespace fs = std::filesystem;

constexpr const char* kNoData = "OMEN_DATA is not set: the track's public data is absent";

inline std::optional<fs::path> track_data() {
  const char* root = std::getenv("OMEN_DATA");
  if (!root || !fs::exists(fs::path(root) / "loadbalance")) return std::nullopt;
  return fs::path(root) / "loadbalance";
}

// The directory with the members of an archive of the data; tests that run side by side may ask for
// the same one.
inline fs::path unpacked(const fs::path& archive) {
  const std::string name = archive.filename().string();
  const fs::path root = fs::path(OMEN_TEST_BUILD_DIR) / "loadbalance-data";
  const fs::path done = root / name.substr(0, name.find('.'));
  const auto members = [&] {  // those of archives that hold one directory lie in it
    const fs::directory_iterator first(done);
    return fs::is_directory(first->path()) ? first->path() : done;
  };
  if (fs::exists(done)) return members();
  const fs::path fresh = done.string() + "." + std::to_string(::getpid());
  fs::create_directories(fresh);
  const std::string command = "tar -xjf '" + archive.string() + "' -C '" + fresh.string() + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot unpack " + name);
  std::error_code lost;
  fs::rename(fresh, done, lost);
  if (lost) fs::remove_all(fresh);
  return members();
}

inline std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::vector<std::string> fields(const std::string& line, char separator = ',') {
  std::vector<std::string> list;
  std::size_t at = 0;
  for (std::size_t end = line.find(separator); end != std::string::npos;
       end = line.find(separator, at)) {
    list.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  list.push_back(line.substr(at));
  return list;
}

}  // namespace omen::loadbalance::testing
