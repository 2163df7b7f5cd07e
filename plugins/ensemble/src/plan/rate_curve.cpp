// SPDX-License-Identifier: Apache-2.0
// A measured beginning and a geometric tail.
#include "plan/rate_curve.hpp"

#include <algorithm>
#include <cmath>

namespace omen::ensemble {
namespace {

// No machine has more.
constexpr std::int64_t kMost = 1 << 24;

}  // namespace

RateCurve::RateCurve(std::vector<double> measured) : measured_(std::move(measured)) {
  const std::size_t count = measured_.size();
  const auto last = static_cast<double>(count);
  efficiency_ = measured_.back() / last;
  if (count > 1) decay_ = std::min(1.0, efficiency_ / (measured_[count - 2] / (last - 1)));
  for (std::size_t i = 1; i < count; ++i) measured_[i] = std::max(measured_[i], measured_[i - 1]);
  useful_ =
      1 + (std::find(measured_.begin(), measured_.end(), measured_.back()) - measured_.begin());
  if (count == 1 || efficiency_ * last < measured_.back()) return;
  // m decay^m is highest at -1 / ln decay; a whole number beside it is the last useful one.
  const double top = decay_ < 1 ? -1 / std::log(decay_) : static_cast<double>(kMost);
  const auto near = static_cast<std::int64_t>(std::min(top, static_cast<double>(kMost)));
  for (const std::int64_t m : {near, near + 1})
    if (m > static_cast<std::int64_t>(count) && m <= kMost) {
      const auto tail = static_cast<double>(m);
      const double rate = tail * efficiency_ * std::pow(decay_, tail - last);
      const double best =
          useful_ > static_cast<std::int64_t>(count) ? at(useful_) : measured_.back();
      if (rate > best) useful_ = m;
    }
}

double RateCurve::at(std::int64_t accelerators) const {
  const std::int64_t m = std::min(accelerators, useful_);
  const auto count = static_cast<std::int64_t>(measured_.size());
  const double rate =
      m <= count
          ? measured_[static_cast<std::size_t>(std::max<std::int64_t>(m, 1)) - 1]
          : static_cast<double>(m) * efficiency_ * std::pow(decay_, static_cast<double>(m - count));
  return std::min(rate, cap_);
}

RateCurve RateCurve::capped(double most) const {
  RateCurve lower = *this;
  lower.cap_ = std::min(cap_, most);
  lower.useful_ = std::min(useful_, fewest_for(lower.cap_));
  return lower;
}

std::int64_t RateCurve::fewest_for(double rate) const {
  std::int64_t low = 1, high = useful_ + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (at(middle) >= rate)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace omen::ensemble
