// SPDX-License-Identifier: Apache-2.0
// Keeps the deadline grid of a sampler.
#include "omen/telemetry/ticker.hpp"

#include <algorithm>

namespace omen::telemetry {
namespace {
// A stop request interrupts no sleep, so long sleeps are cut into pieces of this length.
constexpr std::int64_t kLongestSleepNs = 100 * kNsPerMs;
}  // namespace

Ticker::Ticker(Clock& clock, std::int64_t interval_ns, const std::atomic<bool>& stop)
    : clock_(clock), interval_ns_(interval_ns), stop_(stop), deadline_ns_(clock.now_ns()) {}

bool Ticker::next() {
  std::int64_t now = clock_.now_ns();
  if (ticks_ > 0) {
    deadline_ns_ += interval_ns_;
    if (now >= deadline_ns_ + interval_ns_) {
      const std::int64_t skipped = (now - deadline_ns_) / interval_ns_;
      missed_ += skipped;
      deadline_ns_ += skipped * interval_ns_;
    }
  }
  while (!stop_.load(std::memory_order_relaxed)) {
    if (now >= deadline_ns_) {
      lateness_ns_.add(static_cast<double>(now - deadline_ns_));
      ++ticks_;
      return true;
    }
    clock_.sleep_until(std::min(deadline_ns_, now + kLongestSleepNs));
    now = clock_.now_ns();
  }
  return false;
}

}  // namespace omen::telemetry
