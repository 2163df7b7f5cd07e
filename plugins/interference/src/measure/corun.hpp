// SPDX-License-Identifier: Apache-2.0
// Commands alone and together, again and again: how fast each is beside the others.
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
  // How busy a device is now, in percent; NaN where that is not known. Empty: nobody asks.
  std::function<double()> device_percent = {};
};

// What one of the commands did.
struct CorunRates {
  std::vector<double> alone, together;        // steps a second, by turn
  std::vector<double> alone_ms, together_ms;  // how long each step took, of all turns
  double cpu_share = 0;                       // of one core, alone
  double memory_mib = 0;                      // resident, alone
  std::vector<double> device_percent;         // every reading alone
};

// Each turn runs every command alone and then all of them, so that drifts of the machine meet all
// alike. Steps are the marks that a command leaves in the file named by OMEN_MARK_FILE.
// Commands are ended when their window is over. OMEN_UNAVAILABLE where a command ends early, leaves
// no mark in time or none in its window; OMEN_NOT_FOUND where there is no such command.
std::vector<CorunRates> measure_corun(const std::vector<CommandLine>& commands,
                                      const CorunOptions& options,
                                      const std::function<void(double)>& step);

struct CorunSpeed {
  double median = 0;
  double low = 0, high = 0;  // 95 % interval of the mean (Student's t)
  bool is_precise = false;   // the interval is at most +-.05
};
// Together over alone, turn by turn.
CorunSpeed speed_of(const std::vector<double>& alone, const std::vector<double>& together);

}  // namespace omen::interference
