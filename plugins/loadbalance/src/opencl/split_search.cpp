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
constexpr int kMostRepeats = 15;        // of one look, however short the kernel
constexpr double kNearBest = 1.10;      // what one look cannot tell from the best
constexpr int kMaxRaceRounds = 40;
constexpr double kRaceMs = 5000;  // long runs average what disturbs them and need no race

class Search {
 public:
  Search(const std::function<SplitTime(double)>& run, const SearchOptions& options)
      : run_(run), options_(options) {}

  SplitSearch run() {
    take(100, SearchStep::kFirstAlone);
    take(0, SearchStep::kSecondAlone);
    correct();
    for (const double step : kProbeSteps) descend(std::max(step, options_.granularity));
    lean();
    race();
    return conclude();
  }

 private:
  SplitSearch conclude() {
    const double first = found_.samples[0].time.total_ms;
    const double second = found_.samples[1].time.total_ms;
    found_.single_ms = std::min(first, second);
    const SplitSample* chosen = best_split();
    const double limit = chosen->time.total_ms / (1 - options_.min_gain);
    for (const SplitSample& sample : found_.samples)
      if (is_split(sample) && sample.time.total_ms <= limit && left(sample) < left(*chosen))
        chosen = &sample;
    found_.split_share = chosen->share;
    found_.split_ms = chosen->time.total_ms;
    found_.use_both = found_.split_ms < (1 - options_.min_gain) * found_.single_ms;
    found_.share = found_.use_both ? found_.split_share : first <= second ? 100 : 0;
    found_.time_ms = found_.use_both ? found_.split_ms : found_.single_ms;
    return std::move(found_);
  }

  SplitTime take(double share, SearchStep step) {
    std::vector<SplitTime> runs;
    double spent = 0;
    for (int i = 0; i < std::max(options_.repeats, kMostRepeats); ++i) {
      if (i >= options_.repeats && spent >= options_.enough_ms) break;
      runs.push_back(run_(share));
      spent += runs.back().total_ms;
    }
    found_.samples.push_back({share, median_run(std::move(runs)), step});
    return found_.samples.back().time;
  }
  static bool is_split(const SplitSample& sample) { return sample.share > 0 && sample.share < 100; }
  bool first_is_better() const {
    return found_.samples[0].time.total_ms <= found_.samples[1].time.total_ms;
  }
  // What the better device does not do, in points.
  double left(const SplitSample& sample) const {
    return first_is_better() ? 100 - sample.share : sample.share;
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
      if (is_split(sample) && (!best || sample.time.total_ms < best->time.total_ms)) best = &sample;
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

  // A descent from the middle may end before the far end of a plateau.
  void lean() {
    const double least = std::max(kProbeSteps[2], options_.granularity);
    const double share = inside(first_is_better() ? 100 - least : least);
    if (!seen(share)) take(share, SearchStep::kProbe);
  }

  // Runs of one share in a row find threads and caches where the last one left them, and where the
  // curve is flat that luck would choose: here shares take turns, in an order that changes.
  void race() {
    const double limit = kNearBest * best_split()->time.total_ms;
    std::vector<SplitSample*> near;
    for (SplitSample& sample : found_.samples)
      if (sample.time.total_ms <= limit) near.push_back(&sample);
    const double rounds = kRaceMs / (static_cast<double>(near.size()) * limit);
    std::map<SplitSample*, std::vector<SplitTime>> runs;
    std::minstd_rand random;
    for (int round = 0; round < std::min<double>(std::floor(rounds), kMaxRaceRounds); ++round) {
      std::shuffle(near.begin(), near.end(), random);
      for (SplitSample* sample : near) runs[sample].push_back(run_(sample->share));
    }
    for (auto& [sample, times] : runs) sample->time = median_run(std::move(times));
  }

  const std::function<SplitTime(double)>& run_;
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

SplitSearch find_split(const std::function<SplitTime(double share)>& run,
                       const SearchOptions& options) {
  return Search(run, options).run();
}

}  // namespace omen::loadbalance
