// SPDX-License-Identifier: Apache-2.0
// Starts and awaits processes.
#include "omen/telemetry/job.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "omen/error.hpp"
#include "omen/telemetry/clock.hpp"

namespace omen::telemetry {
namespace {

// The parent's variables, with some replaced.
std::vector<std::string> merge_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> merged;
  for (char** at = environ; *at; ++at) {
    const std::string_view entry = *at;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (std::none_of(added.begin(), added.end(), [&](const auto& a) { return a.first == name; }))
      merged.emplace_back(entry);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

[[noreturn]] void fail_start(int error, const std::string& command) {
  if (error == ENOENT)
    throw Error(OMEN_NOT_FOUND, "command '" + command + "' not found",
                "Check its spelling and PATH.");
  throw Error(OMEN_INVALID_ARGUMENT,
              "command '" + command + "' cannot be run: " + std::strerror(error),
              error == EACCES ? "Make it executable: chmod +x" : "Check the file.");
}

}  // namespace

Job::Job(pid_t pid, bool owned) : pid_(pid), owned_(owned) {
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

Job::Job(Job&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      owned_(other.owned_),
      pidfd_(std::exchange(other.pidfd_, -1)),
      ended_(other.ended_),
      end_(other.end_) {}

Job::~Job() {
  if (pidfd_ >= 0) ::close(pidfd_);
}

Job Job::start(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& environment) {
  if (command.empty() || command[0].empty())
    throw Error(OMEN_INVALID_ARGUMENT, "there is no command to run",
                "Put it after two dashes: omen profile -- COMMAND");
  std::vector<std::string> words = command;
  std::vector<std::string> variables = merge_environment(environment);
  std::vector<char*> argv = pointers(words);
  std::vector<char*> envp = pointers(variables);
  // Handlers end with the exec; what the host blocks or ignores for itself must not reach the job.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail_start(error, command[0]);
  return Job(pid, true);
}

Job Job::watch(pid_t pid) {
  if (pid <= 0 || (::kill(pid, 0) != 0 && errno == ESRCH))
    throw Error(OMEN_NOT_FOUND, "no process " + std::to_string(pid),
                "Give the pid of a running process: ps -e shows them.");
  return Job(pid, false);
}

bool Job::reap() {
  if (!owned_) {
    ended_ = ::kill(pid_, 0) != 0 && errno == ESRCH;
    return ended_;
  }
  int status = 0;
  rusage usage{};
  const pid_t got = ::wait4(pid_, &status, WNOHANG, &usage);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  ended_ = true;
  // Somebody else may have waited for it: then it is gone, and how it ended stays unknown.
  if (got < 0) return true;
  end_.known = true;
  end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_.user_s = seconds(usage.ru_utime);
  end_.system_s = seconds(usage.ru_stime);
  end_.max_rss_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  return true;
}

bool Job::wait(std::int64_t timeout_ns) {
  if (ended_ || reap()) return true;
  constexpr std::int64_t kPollNs = 10 * kNsPerMs;
  Clock& clock = machine_clock();
  const std::int64_t deadline = clock.now_ns() + timeout_ns;
  while (clock.now_ns() < deadline) {
    const std::int64_t left = deadline - clock.now_ns();
    if (pidfd_ >= 0) {
      pollfd watched{pidfd_, POLLIN, 0};
      ::poll(&watched, 1, static_cast<int>(left / kNsPerMs + 1));
      // A foreign zombie is readable here until its parent waits for it: it has ended all the same.
      if (!owned_ && (watched.revents & POLLIN)) ended_ = true;
    } else {
      clock.sleep_until(clock.now_ns() + std::min(left, kPollNs));
    }
    if (ended_ || reap()) return true;
  }
  return false;
}

}  // namespace omen::telemetry
