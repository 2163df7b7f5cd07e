// SPDX-License-Identifier: Apache-2.0
// What a command line asks of every verb, as plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace omen::host::cli {

using Words = std::vector<std::string>;
using Flags = std::vector<std::pair<std::string, std::string>>;

// Understood before and after every verb.
struct Globals {
  std::vector<std::filesystem::path> plugin_path;
  bool quiet = false;
  int verbose = 0;
  bool plain = false;
  bool json = false;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::string devices = "cpu";
  std::string config_file;
  std::vector<std::string> command_line;
};

// How a verb that calls plugins runs them.
struct RunChoices {
  bool isolate = false;
  bool in_process = false;         // plugins of others too
  bool owns_stdout = false;        // a job that a profiler runs writes to it
  double timeout_seconds = 0;      // 0: none
  std::uint64_t memory_bytes = 0;  // 0: none
};

}  // namespace omen::host::cli
