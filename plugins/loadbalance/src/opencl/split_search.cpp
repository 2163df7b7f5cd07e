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
constexpr int kMaxDuelRounds = 25, kLeastDuelRounds = 3;
constexpr double kDuelMs = 2000;
constexpr int kMaxDuels = 3;               // of a gain that cannot be
constexpr double kGainNoise = 1.03;        // what a duel cannot tell from the largest gain
constexpr double kMostGainOfHalves = 2.2;  // twice, and what caches may add

class Search {
 public:
  Search(const std::function<SplitTime(double)>& run, const SearchOptions& options)
      : run_(run), options_(options) {}

  SplitSearch run() {
    take_alone();
    correct();
    for (const double step : kProbeSteps) descend(std::max(step, options_.granularity));
    lean();
    race();
    return conclude();
  }

 private:
  // The choice may rest on luck that one share had, so what was fastest takes part as well.
  SplitSearch conclude() {
    SplitSample& single = found_.samples[first_is_better() ? 0 : 1];
    SplitSample& split = *duel(chosen(), best_split(), single);
    found_.single_ms = single.time.total_ms;
    found_.split_share = split.share;
    found_.split_ms = split.time.total_ms;
    found_.use_both = won_ && gains(split, single);
    found_.share = found_.use_both ? split.share : single.share;
    found_.time_ms = found_.use_both ? found_.split_ms : found_.single_ms;
    return std::move(found_);
  }

  bool gains(const SplitSample& faster, const SplitSample& slower) const {
    return faster.time.total_ms < (1 - options_.min_gain) * slower.time.total_ms;
  }

  // The split that leaves the better device the most to do, of those as good as the best.
  SplitSample* chosen() {
    SplitSample* best = best_split();
    const double limit = best->time.total_ms / (1 - options_.min_gain);
    for (SplitSample& sample : found_.samples)
      if (is_split(sample) && sample.time.total_ms <= limit && left(sample) < left(*best))
        best = &sample;
    return best;
  }

  // Whatever disturbed the search, splits and single runs meet the same here. Gives the split that
  // holds: the fastest one where it gains over the chosen one.
  SplitSample* duel(SplitSample* chosen, SplitSample* fastest, SplitSample& single) {
    std::vector<SplitSample*> all = {&single, chosen};
    if (fastest != chosen) all.push_back(fastest);
    SplitSample* split = chosen;
    for (int i = 0; i < kMaxDuels; ++i) {
      const auto times = in_turns(all);
      for (std::size_t k = 0; k < all.size(); ++k) all[k]->time = median_run(times[k]);
      split = gains(*fastest, *chosen) ? fastest : chosen;
      won_ = is_mostly_faster(times[split == chosen ? 1 : 2], times[0]);
      found_.doubt = doubt_of(single.time.total_ms / split->time.total_ms, split->share);
      if (found_.doubt == GainDoubt::kNone) break;
    }
    return split;
  }

  // Runs of each, forwards and backwards by turns.
  std::vector<std::vector<SplitTime>> in_turns(const std::vector<SplitSample*>& all) {
    double round_ms = 0;
    for (const SplitSample* sample : all) round_ms += sample->time.total_ms;
    const double rounds = std::clamp<double>(std::floor(kDuelMs / std::max(round_ms, 1e-3)),
                                             kLeastDuelRounds, kMaxDuelRounds);
    std::vector<std::vector<SplitTime>> times(all.size());
    for (int round = 0; round < rounds; ++round)
      for (std::size_t k = 0; k < all.size(); ++k) {
        const std::size_t at = round % 2 ? all.size() - 1 - k : k;
        times[at].push_back(run_(all[at]->share));
      }
    return times;
  }

  static bool is_mostly_faster(const std::vector<SplitTime>& some,
                               const std::vector<SplitTime>& others) {
    std::size_t won = 0;
    for (std::size_t i = 0; i < some.size(); ++i) won += some[i].total_ms < others[i].total_ms;
    return 2 * won > some.size();
  }

  GainDoubt doubt_of(double gain, double share) const {
    if (options_.halves && gain > kMostGainOfHalves) return GainDoubt::kMeasuringError;
    return gain > kGainNoise * largest_gain(share) ? GainDoubt::kUnevenWork : GainDoubt::kNone;
  }

  // Of one look at a share, of which `done` runs took `spent_ms` so far.
  bool wants_run(int done, double spent_ms) const {
    if (done < options_.repeats) return true;
    return done < kMostRepeats && spent_ms < options_.enough_ms;
  }

  void take_alone() {
    std::vector<SplitTime> first, second;
    double spent = 0;
    for (int i = 0; wants_run(i, spent); ++i) {
      first.push_back(run_(100));
      second.push_back(run_(0));
      spent += std::min(first.back().total_ms, second.back().total_ms);
    }
    found_.samples.push_back({100, median_run(std::move(first)), SearchStep::kFirstAlone});
    found_.samples.push_back({0, median_run(std::move(second)), SearchStep::kSecondAlone});
  }

  SplitTime take(double share, SearchStep step) {
    std::vector<SplitTime> runs;
    double spent = 0;
    for (int i = 0; wants_run(i, spent); ++i) {
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
  // The nearest plan with work for both, so that equal plans are not measured as two shares.
  double inside(double share) const {
    const double edge = std::min(std::max(options_.granularity, 1.0), 50.0);
    const double groups = std::round(100 / options_.granularity);
    const double mine = std::round(std::clamp(share, edge, 100 - edge) / 100 * groups);
    return 100 * std::clamp(mine, 1.0, std::max(groups - 1, 1.0)) / groups;
  }
  bool seen(double share) const {
    return std::any_of(found_.samples.begin(), found_.samples.end(), [&](const SplitSample& s) {
      return std::fabs(s.share - share) < options_.granularity / 2;
    });
  }
  SplitSample* best_split() {
    SplitSample* best = nullptr;
    for (SplitSample& sample : found_.samples)
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
  bool won_ = false;  // the split was the faster one more often than the single device
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

double largest_gain(double share) {
  return 100 / std::max(share, 100 - share);
}

SplitSearch find_split(const std::function<SplitTime(double share)>& run,
                       const SearchOptions& options) {
  return Search(run, options).run();
}

}  // namespace omen::loadbalance
