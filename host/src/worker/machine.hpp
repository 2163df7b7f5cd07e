// SPDX-License-Identifier: Apache-2.0
// Facts of the machine that a run records and `omen doctor` shows; nothing heavy is opened for
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace omen::host {

struct Device {
  std::string kind;  // "cuda", "opencl", "rocm", "energy"
  std::string name;
  std::string detail;  // driver version, or what is missing and how to get it
  bool usable = false;
};

struct Machine {
  std::string system, kernel, processor;
  unsigned cores = 0;         // online
  unsigned usable_cores = 0;  // in this process's affinity mask
  double cgroup_cpus = 0;     // 0: no limit
  std::uint64_t memory = 0, available_memory = 0;
  std::uint64_t cgroup_memory = 0;  // 0: no limit
};

Machine machine_facts();
// Opens the NVIDIA management library where there is one; everything else is read from files.
std::vector<Device> machine_devices();
// Bytes that this user may still write there; 0 where the place is unknown.
std::uint64_t free_disk(const std::filesystem::path& place);
// A program in PATH; empty where there is none.
std::filesystem::path find_program(const std::string& name);
// <directory of omen>/../share/omen: templates, schemas, the chart library.
std::filesystem::path share_directory();
std::filesystem::path cache_directory();

}  // namespace omen::host
