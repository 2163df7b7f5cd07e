// SPDX-License-Identifier: Apache-2.0
// A child in its own process group: spawned clean, its output kept, its memory watched, its end
// explained.
#ifndef OMEN_HOST_SRC_CHILD_PROCESS_HPP
#define OMEN_HOST_SRC_CHILD_PROCESS_HPP

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "omen/descriptor.hpp"

namespace omen::host {

// The descriptor on which a child finds its channel to the host.
inline constexpr int kChannelFd = 3;

struct SpawnRequest {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
  std::function<void(std::string_view line)> on_stdout;          // complete lines
  bool keeps_stdout = false;                                     // the child writes to ours
};

// Environment that makes OpenMP, BLAS and their kin keep to a thread budget; they read it when they
// are loaded.
std::vector<std::pair<std::string, std::string>> thread_environment(unsigned threads);

class ChildProcess {
 public:
  explicit ChildProcess(SpawnRequest request);
  ~ChildProcess();  // kills the group where it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  // Our end of the socket that the child has as kChannelFd.
  int channel() const noexcept { return channel_.get(); }

  // Waits until the channel can be read, the child ends or the time is up; keeps what the child
  // writes meanwhile.
  bool wait_readable(std::chrono::milliseconds patience);
  // True once the child has ended; collects its status and the rest of its output.
  bool ended();
  // Waits for the end, and keeps the output coming so that a full pipe does not hold it up.
  bool wait_end(std::chrono::milliseconds patience);
  void kill() noexcept;

  // "SIGSEGV", "exit 3"; empty while it runs or after exit 0.
  std::string end_reason() const;
  bool ended_by_signal() const noexcept;
  // Bytes of the child and everything it started; 0 once it has ended. The peak is the kernel's
  // high-water mark of the child, or the largest sum seen.
  std::uint64_t resident();
  std::uint64_t peak_resident() const noexcept { return peak_; }

  const std::string& stderr_tail() const noexcept { return stderr_tail_; }
  std::uint64_t stdout_bytes() const noexcept { return stdout_bytes_; }

 private:
  void pump();
  void take_stdout(std::string_view text);
  void take_stderr(std::string_view text);

  pid_t pid_ = -1;
  Descriptor channel_, stdout_, stderr_;
  std::function<void(std::string_view)> on_stdout_;
  std::string stdout_line_, stderr_tail_;
  std::uint64_t stdout_bytes_ = 0, peak_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

// "SIGSEGV" for 11.
std::string signal_name(int signal);

}  // namespace omen::host

#endif  // OMEN_HOST_SRC_CHILD_PROCESS_HPP
