// SPDX-License-Identifier: Apache-2.0
// The machine that omen runs on, as far as its kernel names its devices.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace omen::loadbalance::cost {

struct ThisMachine {
  std::string cpu;                // as /proc/cpuinfo calls it
  std::vector<std::string> gpus;  // as the drivers call them

  // Whether these names mean devices that are here; names in any spelling that the registry knows.
  bool has(const std::string& cpu_name, const std::string& gpu_name) const;
};

// Below `proc` and `sys`, which tests point at trees of their own.
ThisMachine read_this_machine(const std::filesystem::path& proc = "/proc",
                              const std::filesystem::path& sys = "/sys");

}  // namespace omen::loadbalance::cost
