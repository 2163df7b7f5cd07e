// SPDX-License-Identifier: Apache-2.0
// Two commands alone and together, again and again: how fast each is beside the other.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace omen::interference {

using CommandLine = std::vector<std::string>;

struct CorunOptions {
  double window_s = 5;     // in which steps are counted
  double warmup_s = 1;     // from the first mark on, not counted
  double patience_s = 30;  // in which a command must leave its first mark
  int repeats = 5;
  std::filesystem::path directory;  // for the mark files; must exist
};

// What each turn measured, in steps a second.
struct CorunRates {
  std::vector<double> alone[2], together[2];
  std::vector<double> alone_ms[2], together_ms[2];  // how long each step took, of all turns
  double cpu_share[2] = {0, 0};                     // of one core, alone
  double memory_mib[2] = {0, 0};                    // resident, alone
};

// Each turn runs the first alone, the second alone, and both, so that drifts of the machine meet
// all three. Steps are the marks that a command leaves in the file named by OMEN_MARK_FILE.
// Commands are ended when their window is over. OMEN_UNAVAILABLE where a command ends early, leaves
// no mark in time or none in its window; OMEN_NOT_FOUND where there is no such command.
CorunRates measure_corun(const CommandLine& first, const CommandLine& second,
                         const CorunOptions& options, const std::function<void(double)>& step);

struct CorunSpeed {
  double median = 0;
  double low = 0, high = 0;  // 95 % interval of the mean (Student's t)
  bool is_precise = false;   // the interval is at most +-.05
};
// Together over alone, turn by turn.
CorunSpeed speed_of(const std::vector<double>& alone, const std::vector<double>& together);

}  // namespace omen::interference
