// SPDX-License-Identifier: Apache-2.0
// The host's side of omen_run, and what Ctrl-C does.
#include "components/run_context.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "components/interrupt.hpp"
#include "omen/error.hpp"
#include "tables/table_io.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;

// Signal handlers may only touch lock-free atomics.
std::atomic<int> interrupts{0};
std::atomic<std::int64_t> first_interrupt_ns{0};
std::array<std::atomic<pid_t>, 256> watched{};

// One Ctrl-C may arrive twice, from the terminal and from a parent that passes it on.
constexpr std::int64_t kSameInterruptNs = 300'000'000;

std::int64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_interrupt(int) {
  if (interrupts.fetch_add(1) == 0) {
    first_interrupt_ns = now_ns();
    constexpr std::string_view kHeard =
        "interrupt heard: stopping; a second one ends omen at once\n";
    if (write(STDERR_FILENO, kHeard.data(), kHeard.size()) < 0) return;  // nobody reads it
    return;
  }
  if (now_ns() - first_interrupt_ns < kSameInterruptNs) return;
  for (const std::atomic<pid_t>& slot : watched)
    if (const pid_t leader = slot.load(); leader > 0) kill(-leader, SIGKILL);
  _exit(130);
}

const RunHooks& hooks_of(const omen_run* run) {
  return *static_cast<const RunHooks*>(run->run_data);
}

std::string make_scratch_dir() {
  std::error_code failed;
  fs::path base = fs::temp_directory_path(failed);
  if (failed) base = "/tmp";
  std::string pattern = (base / "omen-run-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw Error(OMEN_IO,
                "cannot make a scratch directory in " + base.string() + ": " + std::strerror(errno),
                "Set TMPDIR to a directory that you may write to.");
  return pattern;
}

std::string make_dir(const fs::path& path) {
  if (path.empty()) return {};
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed)
    throw Error(OMEN_IO, "cannot make directory " + path.string() + ": " + failed.message(),
                "Choose another place, or free this one.");
  return fs::absolute(path).string();
}

const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

}  // namespace

bool watch_process_group(pid_t leader) noexcept {
  for (std::atomic<pid_t>& slot : watched) {
    pid_t free = 0;
    if (slot.compare_exchange_strong(free, leader)) return true;
  }
  return false;
}

void unwatch_process_group(pid_t leader) noexcept {
  for (std::atomic<pid_t>& slot : watched) {
    pid_t expected = leader;
    if (slot.compare_exchange_strong(expected, 0)) return;
  }
}

RunContext::RunContext(RunSettings settings, RunHooks hooks)
    : settings_(std::move(settings)),
      hooks_(std::move(hooks)),
      output_dir_(make_dir(settings_.output_dir)),
      state_dir_(make_dir(settings_.state_dir)),
      scratch_dir_(make_scratch_dir()) {
  run_.struct_size = sizeof run_;
  run_.threads = settings_.threads;
  run_.seed = settings_.seed;
  run_.interval_level = settings_.interval_level;
  run_.devices = settings_.devices.c_str();
  run_.scratch_dir = scratch_dir_.c_str();
  run_.output_dir = or_null(output_dir_);
  run_.state_dir = or_null(state_dir_);
  run_.run_data = &hooks_;
  run_.is_cancelled = [](const omen_run* run) {
    return interrupted() || (hooks_of(run).is_cancelled && hooks_of(run).is_cancelled());
  };
  run_.progress = [](const omen_run* run, double fraction, const char* stage) {
    if (hooks_of(run).progress) hooks_of(run).progress(fraction, stage);
  };
  run_.metric = [](const omen_run* run, const char* name, std::int64_t step, double value) {
    if (hooks_of(run).metric) hooks_of(run).metric(name, step, value);
  };
}

RunContext::~RunContext() {
  std::error_code ignored;  // a scratch directory that cannot be removed must not hide the result
  fs::remove_all(scratch_dir_, ignored);
}

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  reading_cancelled = interrupted;
}

bool interrupted() noexcept {
  return interrupts.load(std::memory_order_relaxed) > 0;
}

}  // namespace omen::host
