// SPDX-License-Identifier: Apache-2.0
// Quantiles of positive numbers in constant memory: buckets that grow by a sixteenth of an octave.
#ifndef OMEN_TELEMETRY_LOG_HISTOGRAM_HPP
#define OMEN_TELEMETRY_LOG_HISTOGRAM_HPP

#include <array>
#include <cmath>
#include <cstdint>

namespace omen::telemetry {

// Relative error of a quantile: at most 2.2 %. Zero and negative values count as zero.
class LogHistogram {
 public:
  void add(double value) {
    ++count_;
    if (value > max_) max_ = value;
    if (!(value > 0)) {
      ++zeros_;
      return;
    }
    const double octave = std::log2(value) * kPerOctave + kOffset;
    const double last = static_cast<double>(kBuckets - 1);
    ++buckets_[static_cast<std::size_t>(octave < 0 ? 0 : octave > last ? last : octave)];
  }

  std::int64_t count() const noexcept { return count_; }
  double max() const noexcept { return max_; }

  // The value below which a share q in [0, 1] lies; 0 without values.
  double quantile(double q) const {
    const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
    std::int64_t seen = zeros_;
    if (count_ == 0 || seen >= wanted) return 0;
    if (wanted >= count_) return max_;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen < wanted) continue;
      const double middle = std::exp2((static_cast<double>(i) + 0.5 - kOffset) / kPerOctave);
      return middle < max_ ? middle : max_;
    }
    return max_;
  }

 private:
  static constexpr double kPerOctave = 16;
  static constexpr std::size_t kBuckets = 1600;
  static constexpr double kOffset = 480;  // 2^-30 .. 2^70: nanoseconds, percentages and bytes alike
  std::array<std::int64_t, kBuckets> buckets_{};
  std::int64_t count_ = 0, zeros_ = 0;
  double max_ = 0;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_LOG_HISTOGRAM_HPP
