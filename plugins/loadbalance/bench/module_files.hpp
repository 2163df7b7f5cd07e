// SPDX-License-Identifier: Apache-2.0
// Modules and kernels in memory, so that reading files is not measured.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "omen/testing/temp_dir.hpp"

namespace omen::loadbalance::bench {

struct File {
  std::string path, text;
};

inline std::vector<File> files_in(const std::string& directory, const std::string& suffix) {
  std::vector<File> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == suffix)
      files.push_back({entry.path().string(), test::read_file(entry.path())});
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

}  // namespace omen::loadbalance::bench
