// SPDX-License-Identifier: Apache-2.0
// Runs a case in a forked child, for test programs that have no binary of their own to spawn.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "omen/conformance/conformance.hpp"
#include "omen/error.hpp"

namespace omen::conformance {
namespace {

// The child's side: "FAIL\nmessage".
[[noreturn]] void run_in_child(int out, const std::string& id, const PluginQuirks& quirks,
                               const Environment& environment) {
  const Result result = run_case(id, quirks, environment);
  const std::string text = std::string(verdict_name(result.verdict)) + "\n" + result.message;
  const ssize_t written = write(out, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

// What arrives before the deadline; false at the deadline.
bool read_until(int in, std::chrono::steady_clock::time_point deadline, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd watch{in, POLLIN, 0};
    if (poll(&watch, 1, static_cast<int>(left.count())) == 0) return false;
    const ssize_t got = read(in, buffer.data(), buffer.size());
    if (got > 0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return true;
  }
}

Result parse_verdict(const std::string& text, int status) {
  const auto line = text.find('\n');
  if (line != std::string::npos)
    if (const auto verdict = verdict_from_name(text.substr(0, line)))
      return {*verdict, text.substr(line + 1)};
  if (WIFSIGNALED(status)) return {Verdict::kCrash, strsignal(WTERMSIG(status))};
  return {Verdict::kCrash, "the process ended with status " + std::to_string(WEXITSTATUS(status))};
}

}  // namespace

Result run_case_forked(const CaseInfo& info, const PluginQuirks& quirks,
                       const Environment& environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(OMEN_IO, "cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) throw Error(OMEN_IO, std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) run_in_child(ends[1], info.id, quirks, environment);
  close(ends[1]);
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::milliseconds(static_cast<std::int64_t>(1000 * info.timeout_s));
  const bool in_time = read_until(ends[0], deadline, text);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!in_time) return {Verdict::kTimeout, "no verdict in time"};
  return parse_verdict(text, status);
}

}  // namespace omen::conformance
