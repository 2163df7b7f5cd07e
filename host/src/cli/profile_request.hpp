// SPDX-License-Identifier: Apache-2.0
// What `omen profile` is asked.
#pragma once

#include "cli/globals.hpp"

namespace omen::host::cli {

struct ProfileRequest {
  std::string component, output, recover;
  std::vector<std::string> words;    // diff A B, stats TRACE, failures TABLE
  std::vector<std::string> command;  // behind `--`
  std::int64_t pid = 0, repeat = 1;
  double duration_s = 0;  // 0: until the workload ends
  bool probe = false, all = false, no_plot = false;
  std::vector<std::string> metrics, columns;  // of stats and of failures
  double period_s = 0;                        // between samples of a trace without times
  bool legacy = false;
  Flags flags;
  RunChoices run;
};

}  // namespace omen::host::cli
