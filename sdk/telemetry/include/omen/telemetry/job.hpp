// SPDX-License-Identifier: Apache-2.0
// Runs a command with its input and output untouched, or watches a process that runs already.
#ifndef OMEN_TELEMETRY_JOB_HPP
#define OMEN_TELEMETRY_JOB_HPP

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace omen::telemetry {

struct JobEnd {
  int exit_code = 0;  // meaningless where signal is set
  int signal = 0;     // the signal that ended it, or 0
  double user_s = 0, system_s = 0;
  double max_rss_bytes = 0;
  bool known = false;  // a process that somebody else started leaves nothing but its absence
};

class Job {
 public:
  // OMEN_NOT_FOUND where there is no such command, OMEN_INVALID_ARGUMENT where it cannot be run.
  static Job start(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment);
  // OMEN_NOT_FOUND where no such process is running.
  static Job watch(pid_t pid);

  Job(Job&& other) noexcept;
  Job& operator=(Job&&) = delete;
  ~Job();

  pid_t pid() const noexcept { return pid_; }
  // Waits at most so long; true once it has ended.
  bool wait(std::int64_t timeout_ns);
  const JobEnd& end() const noexcept { return end_; }

 private:
  Job(pid_t pid, bool owned);
  bool reap();

  pid_t pid_;
  bool owned_;
  int pidfd_ = -1;  // -1 on kernels before 5.3
  bool ended_ = false;
  JobEnd end_;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_JOB_HPP
