// SPDX-License-Identifier: Apache-2.0
// Finds the share of the first device that ends soonest, from a few measured runs.
#pragma once

#include <functional>
#include <vector>

namespace omen::loadbalance {

// One measured run; the time of a device without work is 0.
struct SplitTime {
  double total_ms = 0, first_ms = 0, second_ms = 0;
};

// The run in the middle of at least one: luck that a share has once does not speak for it, trouble
// that it has often speaks against it.
SplitTime median_run(std::vector<SplitTime> runs);

// Why a share was measured.
enum class SearchStep { kFirstAlone, kSecondAlone, kStart, kCorrection, kProbe, kSweep };
inline constexpr const char* kSearchStepNames[] = {"first device", "second device", "start",
                                                   "correction",   "probe",         "sweep"};

struct SplitSample {
  double share = 0;
  SplitTime time;
  SearchStep step = SearchStep::kSweep;
};

// What a gain is worth that parts of the work in proportion to their groups cannot explain.
enum class GainDoubt { kNone, kUnevenWork, kMeasuringError };

struct SplitSearch {
  std::vector<SplitSample> samples;      // in the order measured
  double share = 0, time_ms = 0;         // the best of all samples
  double split_share = 0, split_ms = 0;  // the best with work for both devices
  double single_ms = 0;                  // the better device alone, in turns with the split
  bool use_both = false;                 // the split gains as much as was asked for
  GainDoubt doubt = GainDoubt::kNone;    // of single_ms / split_ms
};

struct SearchOptions {
  double start_share = 50;
  double granularity = 1;  // points of one work-group: shares are multiples of it
  double min_gain = 0.02;  // a split that gains less falls back to one device
  int max_corrections = 6;
  int repeats = 1;       // runs of one look at a share
  double enough_ms = 0;  // short kernels are repeated until a look took this long
  bool halves = false;   // of one device: two of them are at most twice as fast as one
};

// The share at which both devices would end together at the speeds just measured:
// s' = v1 / (v1 + v2) with v1 = s / t1 and v2 = (1 - s) / t2, as in HGuided and Qilin
// (doi:10.1145/1669112.1669121).
double corrected_share(double share, const SplitTime& time);

// The most that a split can gain where every group takes the same time: 1 / max(s, 1 - s).
double largest_gain(double share);

// Measures both devices alone and the start share, corrects it until it stays, descends to better
// neighbours and lets what is nearly best run in turns. Every step away from the better device must
// gain `min_gain`. What comes out and what was fastest meet the better device alone once more, in
// turns, and a gain that cannot be does so again. `run` is given shares from 0 to 100 and returns
// the time of one run.
SplitSearch find_split(const std::function<SplitTime(double share)>& run,
                       const SearchOptions& options);

}  // namespace omen::loadbalance
