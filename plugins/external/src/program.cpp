// SPDX-License-Identifier: Apache-2.0
// A keeper stands between us and the program: it leads the program's process group, sees our end as
// the end of a pipe, and takes the group with it. Killing us cannot leave the program behind.
#include "program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <omen/descriptor.hpp>
#include <omen/error.hpp>
#include <omen/exec_arguments.hpp>

namespace omen::external {
namespace {

constexpr std::size_t kTailBytes = 8192;
constexpr int kTickMs = 50;
// Where the keeper has its ends of the pipes.
constexpr int kLifeline = 3, kReport = 4;

[[noreturn]] void fail_start(const char* what) {
  throw Error(OMEN_IO, std::string("cannot start the program: ") + what + ": " + strerror(errno),
              "Check the limits of this user with: ulimit -a");
}

struct Pipe {
  Descriptor read, write;
};

// Above the descriptors that the keeper moves its own to.
Descriptor lifted(const Descriptor& low) {
  const int high = ::fcntl(low.get(), F_DUPFD_CLOEXEC, 10);
  if (high < 0) fail_start("descriptor");
  return Descriptor(high);
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_start("pipe");
  const Descriptor read_end(ends[0]), write_end(ends[1]);
  return {lifted(read_end), lifted(write_end)};
}

// Everything from here to keep() runs between fork and exec in a process that had threads: system
// calls only.
void default_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void take_descriptors(int lifeline, int report, int output) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::dup3(lifeline, kLifeline, O_CLOEXEC);
  ::dup3(report, kReport, O_CLOEXEC);
  ::syscall(SYS_close_range, kReport + 1, ~0U, 0);
}

bool ended(pid_t program, int* status) {
  return ::waitpid(program, status, WNOHANG) == program;
}

[[noreturn]] void keep(pid_t program) {
  // Kernels before 5.3 have no such descriptor, and look again every 20 ms.
  const int watched = static_cast<int>(::syscall(SYS_pidfd_open, program, 0));
  pollfd ready[] = {{kLifeline, POLLIN, 0}, {watched, POLLIN, 0}};
  int status = 0;
  while (!ended(program, &status)) {
    ::poll(ready, 2, watched < 0 ? 20 : -1);
    if (ready[0].revents != 0) ::kill(0, SIGKILL);
  }
  // Short enough to be written at once or not at all.
  [[maybe_unused]] const ssize_t written = ::write(kReport, &status, sizeof status);
  ::kill(0, SIGKILL);
  ::_exit(0);
}

// What a program that does not exist, or that another user owns, gives in a shell.
constexpr int kCannotRun = 127;

class Keeper {
 public:
  explicit Keeper(const Launch& launch) {
    std::vector<std::string> words{"sh", "-c", launch.command + " \"$@\"", "omen"};
    words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
    std::vector<std::string> variables = environment_with(launch.environment);
    std::vector<char*> argv = exec_pointers(words), envp = exec_pointers(variables);
    Pipe lifeline = make_pipe(), report = make_pipe(), output = make_pipe();
    pid_ = ::fork();
    if (pid_ < 0) fail_start("fork");
    if (pid_ == 0) {
      ::setpgid(0, 0);
      default_signals();
      take_descriptors(lifeline.read.get(), report.write.get(), output.write.get());
      const pid_t program = ::fork();
      if (program == 0) {
        ::execve("/bin/sh", argv.data(), envp.data());
        ::_exit(kCannotRun);
      }
      if (program < 0) ::_exit(kCannotRun);
      keep(program);
    }
    lifeline_ = std::move(lifeline.write);
    report_ = std::move(report.read);
    output_ = std::move(output.read);
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  }
  ~Keeper() {
    lifeline_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // True once the program has ended.
  bool wait(Ended& end) {
    pollfd ready[] = {{report_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}};
    ::poll(ready, output_.get() < 0 ? 1 : 2, kTickMs);
    const bool done = ready[0].revents != 0;
    drain(end.output);
    if (done) take_report(end);
    return done;
  }

 private:
  void take_report(Ended& end) const {
    int status = 0;
    ssize_t got = 0;
    while ((got = ::read(report_.get(), &status, sizeof status)) < 0 && errno == EINTR) continue;
    // A keeper that was killed has nothing to say.
    if (got != sizeof status)
      end.signal = SIGKILL;
    else if (WIFSIGNALED(status))
      end.signal = WTERMSIG(status);
    else
      end.exit_code = WEXITSTATUS(status);
  }

  void drain(std::string& tail) {
    std::array<char, 16384> buffer;
    // More than a pipe holds, but not without end: a program that never pauses must not keep us.
    for (int piece = 0; piece < 16 && output_.get() >= 0; ++piece) {
      const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return output_.reset();
      tail.append(buffer.data(), static_cast<std::size_t>(got));
      if (tail.size() > kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    }
  }

  pid_t pid_ = -1;
  Descriptor lifeline_, report_, output_;
};

}  // namespace

Ended run_program(const Launch& launch, const std::function<void()>& tick) {
  Keeper keeper(launch);
  Ended end;
  while (!keeper.wait(end)) tick();
  return end;
}

}  // namespace omen::external
