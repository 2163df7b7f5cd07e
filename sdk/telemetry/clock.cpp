// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's clocks and sleeps until absolute deadlines.
#include "omen/telemetry/clock.hpp"

#include <cerrno>
#include <ctime>

namespace omen::telemetry {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

class MachineClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return read_clock(CLOCK_MONOTONIC); }
  std::int64_t unix_ns() const override { return read_clock(CLOCK_REALTIME); }
  void sleep_until(std::int64_t deadline_ns) override {
    const timespec until{deadline_ns / kNsPerSecond, deadline_ns % kNsPerSecond};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
};

}  // namespace

Clock& machine_clock() {
  static MachineClock clock;
  return clock;
}

std::int64_t thread_cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace omen::telemetry
