// SPDX-License-Identifier: Apache-2.0
// A child in its own process group, started with posix_spawn.
#include "child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "components/interrupt.hpp"
#include "omen/error.hpp"
#include "omen/exec_arguments.hpp"

namespace omen::host {
namespace {

constexpr std::size_t kTailBytes = 8192;
constexpr std::size_t kLongestLine = 65536;
constexpr int kSendSeconds = 5;

[[noreturn]] void fail_spawn(const std::string& what, int code) {
  throw Error(OMEN_IO, "cannot start a worker: " + what + ": " + std::strerror(code),
              "Check the limits of this user with: ulimit -a");
}

// Moved above the standard descriptors, which the child's file actions overwrite one by one.
Descriptor lifted(int fd) {
  Descriptor low(fd);
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (high < 0) fail_spawn("descriptor", errno);
  return Descriptor(high);
}

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_spawn("pipe", errno);
  return {lifted(ends[0]), lifted(ends[1])};
}

std::pair<Descriptor, Descriptor> make_socket() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_spawn("socket", errno);
  return {lifted(ends[0]), lifted(ends[1])};
}

class SpawnActions {
 public:
  // `out` -1: the child keeps our stdout.
  SpawnActions(int out, int err, int channel) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (out >= 0) posix_spawn_file_actions_adddup2(&actions_, out, 1);
    posix_spawn_file_actions_adddup2(&actions_, err, 2);
    posix_spawn_file_actions_adddup2(&actions_, channel, kChannelFd);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kChannelFd + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    // A group of its own: Ctrl-C in the terminal reaches the host only, and killing takes
    // grandchildren along.
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Reads what is there without waiting; false at the end of the pipe.
template <class Take>
bool drain(Descriptor& from, Take&& take) {
  std::array<char, 16384> buffer;
  while (from.open()) {
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got > 0) {
      take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      return true;
    } else {
      from.reset();
    }
  }
  return false;
}

struct Memory {
  std::uint64_t resident = 0, peak = 0;  // bytes
};

Memory memory_of(pid_t pid) {
  Memory memory;
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %llu kB", &kilobytes) == 1)
      memory.peak = kilobytes * 1024;
    else if (std::sscanf(line.c_str(), "VmRSS: %llu kB", &kilobytes) == 1)
      memory.resident = kilobytes * 1024;
  }
  return memory;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator at(tasks, gone), end; !gone && at != end;
       at.increment(gone)) {
    std::ifstream list(at->path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::vector<std::pair<std::string, std::string>> thread_environment(unsigned threads) {
  if (threads == 0) return {};
  const std::string count = std::to_string(threads);
  std::vector<std::pair<std::string, std::string>> environment;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                           "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"})
    environment.emplace_back(name, count);
  // Spinning threads of two processes on the same cores have a heavy tail; sleeping ones do not.
  environment.emplace_back("OMP_WAIT_POLICY", "passive");
  environment.emplace_back("OMP_DYNAMIC", "false");
  return environment;
}

ChildProcess::ChildProcess(SpawnRequest request) : on_stdout_(std::move(request.on_stdout)) {
  auto [out_read, out_write] = make_pipe();
  auto [err_read, err_write] = make_pipe();
  auto [ours, theirs] = make_socket();
  std::vector<std::string> arguments{request.program.string()};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = environment_with(request.environment);
  const SpawnActions how(request.keeps_stdout ? -1 : out_write.get(), err_write.get(),
                         theirs.get());
  const int code = posix_spawn(&pid_, request.program.c_str(), how.actions(), how.attributes(),
                               exec_pointers(arguments).data(), exec_pointers(environment).data());
  if (code != 0) fail_spawn(request.program.string(), code);
  watch_process_group(pid_);
  for (const Descriptor* end : {&out_read, &err_read}) fcntl(end->get(), F_SETFL, O_NONBLOCK);
  stdout_ = std::move(out_read);
  stderr_ = std::move(err_read);
  channel_ = std::move(ours);
  // A worker that was stopped does not read; the host must not wait for it in send.
  const timeval patience{kSendSeconds, 0};
  setsockopt(channel_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

ChildProcess::~ChildProcess() {
  if (ended_) return;
  kill();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  unwatch_process_group(pid_);
}

void ChildProcess::kill() noexcept {
  if (!ended_) ::kill(-pid_, SIGKILL);
}

bool ChildProcess::wait_readable(std::chrono::milliseconds patience) {
  std::array<pollfd, 3> watch{
      {{channel_.get(), POLLIN, 0}, {stdout_.get(), POLLIN, 0}, {stderr_.get(), POLLIN, 0}}};
  const int ready = poll(watch.data(), watch.size(), static_cast<int>(patience.count()));
  pump();
  return ready > 0 && (watch[0].revents & (POLLIN | POLLHUP)) != 0;
}

bool ChildProcess::ended() {
  if (ended_) return true;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_)
    return false;
  ::kill(-pid_, SIGKILL);  // what it left behind in its group, while the number is still taken
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) continue;
  ended_ = true;
  unwatch_process_group(pid_);
  pump();
  if (!stdout_line_.empty()) take_stdout("\n");
  return true;
}

bool ChildProcess::wait_end(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!ended()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pump();
  }
  return true;
}

void ChildProcess::pump() {
  drain(stdout_, [this](std::string_view text) { take_stdout(text); });
  drain(stderr_, [this](std::string_view text) { take_stderr(text); });
}

void ChildProcess::take_stdout(std::string_view text) {
  stdout_bytes_ += text.size();
  stdout_line_ += text;
  std::size_t begin = 0;
  for (std::size_t end; (end = stdout_line_.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    if (on_stdout_) on_stdout_(std::string_view(stdout_line_).substr(begin, end - begin));
  stdout_line_.erase(0, begin);
  if (stdout_line_.size() > kLongestLine) stdout_line_.clear();
}

void ChildProcess::take_stderr(std::string_view text) {
  stderr_tail_ += text;
  if (stderr_tail_.size() > kTailBytes) stderr_tail_.erase(0, stderr_tail_.size() - kTailBytes);
}

std::string ChildProcess::end_reason() const {
  if (!ended_) return {};
  if (WIFSIGNALED(status_)) return signal_name(WTERMSIG(status_));
  const int code = WEXITSTATUS(status_);
  return code == 0 ? std::string() : "exit " + std::to_string(code);
}

bool ChildProcess::ended_by_signal() const noexcept {
  return ended_ && WIFSIGNALED(status_);
}

std::uint64_t ChildProcess::resident() {
  if (ended_) return 0;
  const Memory own = memory_of(pid_);
  std::uint64_t now = own.resident;
  // What the child started counts as well; a process that ends while we look is left out.
  std::vector<pid_t> pending = children_of(pid_);
  while (!pending.empty()) {
    const pid_t pid = pending.back();
    pending.pop_back();
    now += memory_of(pid).resident;
    for (const pid_t child : children_of(pid)) pending.push_back(child);
  }
  peak_ = std::max({peak_, own.peak, now});
  return now;
}

}  // namespace omen::host
