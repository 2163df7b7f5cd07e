// SPDX-License-Identifier: Apache-2.0
// A fixed cadence from absolute deadlines: late ticks are measured, ticks that no longer fit are
// counted.
#ifndef OMEN_TELEMETRY_TICKER_HPP
#define OMEN_TELEMETRY_TICKER_HPP

#include <atomic>
#include <cstdint>

#include "omen/telemetry/clock.hpp"
#include "omen/telemetry/log_histogram.hpp"

namespace omen::telemetry {

// Deadlines are start, start + interval, start + 2 interval, ... An overrun skips to the next
// deadline in the future, so the grid never drifts.
class Ticker {
 public:
  Ticker(Clock& clock, std::int64_t interval_ns, const std::atomic<bool>& stop);

  // Waits for the next deadline. False once stop was set, at the latest 100 ms after that.
  bool next();

  std::int64_t ticks() const noexcept { return ticks_; }
  std::int64_t missed() const noexcept { return missed_; }
  // Nanoseconds between a deadline and the moment next() returned.
  const LogHistogram& lateness_ns() const noexcept { return lateness_ns_; }

 private:
  Clock& clock_;
  const std::int64_t interval_ns_;
  const std::atomic<bool>& stop_;
  std::int64_t deadline_ns_;
  std::int64_t ticks_ = 0, missed_ = 0;
  LogHistogram lateness_ns_;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_TICKER_HPP
