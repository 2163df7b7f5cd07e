// SPDX-License-Identifier: Apache-2.0
// Correction from measured times, then a descent to the neighbours.
#include "opencl/split_search.hpp"

#include <algorithm>
#include <cmath>

namespace omen::loadbalance {
namespace {

constexpr double kSettled = 2;    // points: a smaller correction ends the rounds
constexpr double kProbeStep = 5;  // points: how far the neighbours lie
constexpr int kMaxProbes = 6;
constexpr double kClearlyLess = 0.995;  // a neighbour that is less than this much faster is noise

class Search {
 public:
  Search(const std::function<SplitTime(double)>& measure, const SearchOptions& options)
      : measure_(measure), options_(options) {}

  SplitSearch run() {
    const double first = take(100, SearchStep::kFirstAlone).total_ms;
    const double second = take(0, SearchStep::kSecondAlone).total_ms;
    found_.single_ms = std::min(first, second);
    correct();
    probe();
    const SplitSample* best = best_split();
    found_.split_share = best->share;
    found_.split_ms = best->time.total_ms;
    found_.use_both = found_.split_ms < (1 - options_.min_gain) * found_.single_ms;
    found_.share = found_.use_both ? found_.split_share : first <= second ? 100 : 0;
    found_.time_ms = found_.use_both ? found_.split_ms : found_.single_ms;
    return std::move(found_);
  }

 private:
  SplitTime take(double share, SearchStep step) {
    found_.samples.push_back({share, measure_(share), step});
    return found_.samples.back().time;
  }
  double inside(double share) const {
    const double edge = std::min(std::max(options_.granularity, 1.0), 50.0);
    return std::clamp(share, edge, 100 - edge);
  }
  bool seen(double share) const {
    return std::any_of(found_.samples.begin(), found_.samples.end(), [&](const SplitSample& s) {
      return std::fabs(s.share - share) < options_.granularity / 2;
    });
  }
  const SplitSample* best_split() const {
    const SplitSample* best = nullptr;
    for (const SplitSample& sample : found_.samples)
      if (sample.share > 0 && sample.share < 100 &&
          (!best || sample.time.total_ms < best->time.total_ms))
        best = &sample;
    return best;
  }

  void correct() {
    double share = inside(options_.start_share);
    SplitTime time = take(share, SearchStep::kStart);
    for (int round = 1; round <= options_.max_corrections; ++round) {
      const double next = inside(corrected_share(share, time));
      if (std::fabs(next - share) < std::max(kSettled, options_.granularity) || seen(next)) return;
      share = next;
      time = take(share, SearchStep::kCorrection);
    }
  }

  // Balance ends together, which is not always soonest: devices may share cores or memory.
  void probe() {
    for (int count = 0; count < kMaxProbes; ++count) {
      const SplitSample centre = *best_split();
      bool better = false;
      for (const double step : {-kProbeStep, kProbeStep}) {
        const double share =
            inside(centre.share + std::copysign(std::max(kProbeStep, options_.granularity), step));
        if (seen(share)) continue;
        better |= take(share, SearchStep::kProbe).total_ms < kClearlyLess * centre.time.total_ms;
        if (better) break;
      }
      if (!better) return;
    }
  }

  const std::function<SplitTime(double)>& measure_;
  const SearchOptions& options_;
  SplitSearch found_;
};

}  // namespace

double corrected_share(double share, const SplitTime& time) {
  if (share <= 0 || share >= 100 || time.first_ms <= 0 || time.second_ms <= 0) return share;
  const double first = share / time.first_ms, second = (100 - share) / time.second_ms;
  return 100 * first / (first + second);
}

SplitSearch find_split(const std::function<SplitTime(double share)>& measure,
                       const SearchOptions& options) {
  return Search(measure, options).run();
}

}  // namespace omen::loadbalance
