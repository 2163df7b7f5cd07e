// SPDX-License-Identifier: Apache-2.0
// What the host of the parent does while ranks run: processors, memory and GPUs, once a second.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

namespace omen::ensemble {

// Records until it is destroyed or the process ends. Where nothing can be measured a run goes on
// without; the log of omen says why.
class MachineLog {
 public:
  MachineLog(const std::filesystem::path& directory, pid_t process);
  ~MachineLog();
  MachineLog(const MachineLog&) = delete;
  MachineLog& operator=(const MachineLog&) = delete;

 private:
  void record(const std::filesystem::path& directory, pid_t process);

  std::atomic<bool> ends_{false};
  std::string failure_;  // written by the thread, read once it has ended
  std::thread thread_;
};

// The trace of a finished recording as `omen profile stats` reads it; nothing where there is none.
void write_machine_trace(const std::filesystem::path& directory,
                         const std::filesystem::path& target);

// Means over the run: cpu.*_percent of the whole machine, gpu.* over its GPUs.
std::map<std::string, double> machine_means(const std::filesystem::path& directory);
// Names that machine_means() can have.
inline constexpr const char* kMachineMeans[] = {
    "cpu.usr_percent",  "cpu.sys_percent",  "cpu.iowait_percent", "cpu.idle_percent",
    "cpu.busy_percent", "gpu.util_percent", "gpu.power_w"};

}  // namespace omen::ensemble
