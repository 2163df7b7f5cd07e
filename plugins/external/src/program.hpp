// SPDX-License-Identifier: Apache-2.0
// Runs a program of the user's so that it, and all it started, ends when we do.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace omen::external {

struct Launch {
  std::string command;                 // for /bin/sh
  std::vector<std::string> arguments;  // behind the command, each as one word
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
};

struct Ended {
  int exit_code = 0;   // meaningless where signal is set
  int signal = 0;      // the signal that ended it, or 0
  std::string output;  // the last of what it wrote to stdout and stderr
};

// Calls `tick` at least every 50 ms while the program runs. Where that throws, where this process
// ends in whatever way, and where the program has ended, everything left in its process group is
// killed.
Ended run_program(const Launch& launch, const std::function<void()>& tick);

}  // namespace omen::external
