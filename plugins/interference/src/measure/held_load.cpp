// SPDX-License-Identifier: Apache-2.0
// Signals, cores and clocks of one child.
#include "measure/held_load.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <omen/error.hpp>
#include <omen/telemetry/clock.hpp>
#include <omen/telemetry/marks.hpp>

namespace omen::interference {
namespace {

constexpr std::int64_t kMoment = 2'000'000;  // ns
constexpr std::int64_t kFarewell = 2'000'000'000;
constexpr std::size_t kLeastMarks = 3;

std::filesystem::path proc(pid_t pid, const char* file) {
  return std::filesystem::path("/proc") / std::to_string(pid) / file;
}

telemetry::Job start_marked(const CommandLine& command, const std::filesystem::path& marks) {
  std::ofstream(marks, std::ios::trunc).flush();
  return telemetry::Job::start(command, {{telemetry::kMarkVariable, marks.string()}});
}

}  // namespace

HeldLoad::HeldLoad(const std::string& name, const CommandLine& command, std::filesystem::path marks,
                   double patience_s, const std::function<void()>& check)
    : name_(name), marks_(std::move(marks)), job_(start_marked(command, marks_)) {
  const std::int64_t latest =
      telemetry::machine_clock().now_ns() + static_cast<std::int64_t>(patience_s * 1e9);
  std::error_code error;
  while (std::filesystem::file_size(marks_, error) == 0) {
    check();
    require_running();
    if (telemetry::machine_clock().now_ns() > latest)
      throw Error(OMEN_UNAVAILABLE, "'" + name_ + "' left no mark in time",
                  "Give it more time with --patience_s.");
  }
  hold();
}

HeldLoad::~HeldLoad() {
  if (job_.pid() <= 0 || job_.wait(0)) return;
  ::kill(job_.pid(), SIGKILL);
  job_.wait(kFarewell);
}

void HeldLoad::require_running() {
  if (!job_.wait(kMoment)) return;
  const telemetry::JobEnd& end = job_.end();
  throw Error(OMEN_UNAVAILABLE,
              "'" + name_ + "' ended with " +
                  (end.signal != 0 ? "signal " + std::to_string(end.signal)
                                   : "code " + std::to_string(end.exit_code)),
              "See what it says: omen interference work " + name_ + ".");
}

void HeldLoad::pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator(proc(job_.pid(), "task"), error))
    ::sched_setaffinity(std::atoi(thread.path().filename().c_str()), sizeof cores, &cores);
}

void HeldLoad::go_on() {
  ::kill(job_.pid(), SIGCONT);
}
void HeldLoad::hold() {
  ::kill(job_.pid(), SIGSTOP);
}

// The first number of schedstat is the time on a core in ns, of the first thread.
double HeldLoad::cpu_s() const {
  std::ifstream in(proc(job_.pid(), "schedstat"));
  double ns = 0;
  in >> ns;
  return ns * 1e-9;
}

double HeldLoad::memory_mib() const {
  std::ifstream in(proc(job_.pid(), "statm"));
  double all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double HeldLoad::rate_between(std::int64_t from_ns, std::int64_t to_ns) {
  std::ifstream in(marks_);
  in.seekg(read_);
  std::vector<std::int64_t> inside;
  std::string line;
  while (std::getline(in, line) && !in.eof()) {
    const std::int64_t time = std::strtoll(line.c_str(), nullptr, 10);
    if (time >= from_ns && time <= to_ns) inside.push_back(time);
    read_ = in.tellg();
  }
  if (inside.size() < kLeastMarks)
    throw Error(OMEN_UNAVAILABLE,
                "'" + name_ + "' finished " + std::to_string(inside.size()) +
                    " steps in a window, which is too few for a rate",
                "Give longer windows with --window_s.");
  return static_cast<double>(inside.size() - 1) * 1e9 /
         static_cast<double>(inside.back() - inside.front());
}

}  // namespace omen::interference
