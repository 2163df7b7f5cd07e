// SPDX-License-Identifier: Apache-2.0
// Time for samplers: the machine's monotonic clock, or a simulated one that never waits.
#ifndef OMEN_TELEMETRY_CLOCK_HPP
#define OMEN_TELEMETRY_CLOCK_HPP

#include <cstdint>

namespace omen::telemetry {

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() const = 0;
  // Nanoseconds since 1970, for the start of a recording only: this clock may jump.
  virtual std::int64_t unix_ns() const = 0;
  // Returns at the deadline or later; at once where it has passed.
  virtual void sleep_until(std::int64_t deadline_ns) = 0;
};

// CLOCK_MONOTONIC with absolute deadlines; shared by all threads.
Clock& machine_clock();

// Jumps to each deadline plus a fixed lateness, so that a day of ticks takes seconds. One thread.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(std::int64_t lateness_ns = 0) : lateness_ns_(lateness_ns) {}
  std::int64_t now_ns() const override { return now_ns_; }
  std::int64_t unix_ns() const override { return now_ns_; }
  void sleep_until(std::int64_t deadline_ns) override {
    if (deadline_ns > now_ns_) now_ns_ = deadline_ns + lateness_ns_;
  }
  void advance(std::int64_t ns) { now_ns_ += ns; }

 private:
  std::int64_t now_ns_ = 0;
  std::int64_t lateness_ns_;
};

// CPU time that the calling thread has used.
std::int64_t thread_cpu_ns();

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_CLOCK_HPP
