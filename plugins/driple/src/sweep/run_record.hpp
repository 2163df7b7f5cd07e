// SPDX-License-Identifier: Apache-2.0
// What is kept beside the trace of one run of a grid.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "omen/telemetry/recording.hpp"
#include "sweep/grid.hpp"

namespace omen::driple {

struct RunRecord {
  Point point;
  std::string command;  // words in quotes, to tell whether a run is still the one that is asked for
  std::string outcome;  // in the words of telemetry
  std::string reason;
  int exit_code = 0, signal = 0;
};

inline constexpr const char* kRunFile = "run.txt";
inline constexpr const char* kGraphFile = "graph.pbtxt";

std::string quoted_command(const std::vector<std::string>& words);

// Written when a run is over, whole or not at all; so a run without it was cut off.
void write_run(const std::filesystem::path& directory, const RunRecord& record);
// Nothing where there is none, or where it is damaged.
std::optional<RunRecord> read_run(const std::filesystem::path& directory);

}  // namespace omen::driple
