// SPDX-License-Identifier: Apache-2.0
// How often each stage of a rank ran, how long, and how much CPU time of its threads it took.
#pragma once

#include <ctime>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace omen::ensemble {

enum class Stage { kRead, kDecode, kPreprocess, kSend, kWait, kTrain, kValidate, kCheckpoint };
inline constexpr std::size_t kStages = 8;
inline constexpr std::array<const char*, kStages> kStageNames = {
    "read", "decode", "preprocess", "send", "wait", "train", "validate", "checkpoint"};

inline double clock_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
inline double wall_seconds() {
  return clock_seconds(CLOCK_MONOTONIC);
}
inline double process_cpu_seconds() {
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

struct StageTotals {
  std::int64_t count = 0;
  double wall_s = 0, cpu_s = 0, bytes = 0;
};

class StageClocks {
 public:
  void add(Stage stage, const StageTotals& part) {
    const std::lock_guard lock(mutex_);
    StageTotals& sum = totals_[static_cast<std::size_t>(stage)];
    sum.count += part.count;
    sum.wall_s += part.wall_s;
    sum.cpu_s += part.cpu_s;
    sum.bytes += part.bytes;
  }
  StageTotals of(Stage stage) const {
    const std::lock_guard lock(mutex_);
    return totals_[static_cast<std::size_t>(stage)];
  }

 private:
  mutable std::mutex mutex_;
  std::array<StageTotals, kStages> totals_{};
};

// Times the scope on its own thread.
class StageTimer {
 public:
  StageTimer(StageClocks& clocks, Stage stage, double bytes = 0)
      : clocks_(clocks), stage_(stage), bytes_(bytes) {}
  ~StageTimer() {
    clocks_.add(stage_,
                {1, wall_seconds() - wall_, clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_, bytes_});
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  StageClocks& clocks_;
  const Stage stage_;
  const double bytes_;
  const double wall_ = wall_seconds(), cpu_ = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
};

}  // namespace omen::ensemble
