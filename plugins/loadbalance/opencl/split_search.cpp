// SPDX-License-Identifier: Apache-2.0
// Correction from measured times, a descent in ever smaller steps, and a race of the best.
#include "opencl/split_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace omen::loadbalance {
namespace {

constexpr double kSettled = 2;                 // points: a smaller correction ends the rounds
constexpr double kProbeSteps[] = {20, 10, 5};  // points: how far the neighbours lie
constexpr int kMaxProbes = 14;
constexpr double kClearlyLess = 0.995;  // a neighbour that is less than this much faster is noise
constexpr double kNearBest = 1.05;      // what one measurement cannot tell from the best
constexpr int kMaxRaceRounds = 6;
constexpr double kRaceMs = 1000;  // long runs average what disturbs them and need no race

class Search {
 public:
  Search(const std::function<SplitTime(double)>& measure, const SearchOptions& options)
      : measure_(measure), options_(options) {}

  SplitSearch run() {
    take(100, SearchStep::kFirstAlone);
    take(0, SearchStep::kSecondAlone);
    correct();
    for (const double step : kProbeSteps) descend(std::max(step, options_.granularity));
    race();
    const double first = found_.samples[0].time.total_ms;
    const double second = found_.samples[1].time.total_ms;
    found_.single_ms = std::min(first, second);
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
  void descend(double step) {
    for (bool better = true; better;) {
      const SplitSample centre = *best_split();
      better = false;
      for (const double share : {inside(centre.share - step), inside(centre.share + step)}) {
        if (better || probes_ == kMaxProbes || seen(share)) continue;
        ++probes_;
        better = take(share, SearchStep::kProbe).total_ms < kClearlyLess * centre.time.total_ms;
      }
    }
  }

  // Where the curve is flat, the luck of one measurement would choose; turns share what disturbs,
  // and their order changes, so that none always follows the same other.
  void race() {
    const double limit = kNearBest * best_split()->time.total_ms;
    std::vector<SplitSample*> near;
    for (SplitSample& sample : found_.samples)
      if (sample.time.total_ms <= limit) near.push_back(&sample);
    const double rounds = kRaceMs / (static_cast<double>(near.size()) * limit);
    std::map<SplitSample*, std::vector<SplitTime>> runs;
    for (SplitSample* sample : near) runs[sample].push_back(sample->time);
    std::minstd_rand random;
    for (int round = 0; round < std::min<double>(rounds, kMaxRaceRounds); ++round) {
      std::shuffle(near.begin(), near.end(), random);
      for (SplitSample* sample : near) runs[sample].push_back(measure_(sample->share));
    }
    for (auto& [sample, times] : runs) sample->time = median_run(std::move(times));
  }

  const std::function<SplitTime(double)>& measure_;
  const SearchOptions& options_;
  SplitSearch found_;
  int probes_ = 0;
};

}  // namespace

SplitTime median_run(std::vector<SplitTime> runs) {
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::nth_element(runs.begin(), middle, runs.end(),
                   [](const SplitTime& a, const SplitTime& b) { return a.total_ms < b.total_ms; });
  return *middle;
}

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
