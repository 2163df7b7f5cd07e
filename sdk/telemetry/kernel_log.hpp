// SPDX-License-Identifier: Apache-2.0
// What the kernel says while a job runs: memory that ran out, faults, GPUs that fell off the bus.
#ifndef OMEN_TELEMETRY_KERNEL_LOG_HPP
#define OMEN_TELEMETRY_KERNEL_LOG_HPP

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace omen::telemetry {

// True for messages that explain why a process ended.
bool explains_an_end(std::string_view message);

// Reads /dev/kmsg from the moment of its construction on. Where the log is forbidden (it needs
// CAP_SYSLOG, or kernel.dmesg_restrict=0) it stays empty.
class KernelLog {
 public:
  explicit KernelLog(const std::filesystem::path& path);
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;
  ~KernelLog();

  bool readable() const noexcept { return fd_ >= 0; }
  // New messages that explain an end, without their prefix; at most 50.
  std::vector<std::string> read_new();

 private:
  int fd_ = -1;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_KERNEL_LOG_HPP
