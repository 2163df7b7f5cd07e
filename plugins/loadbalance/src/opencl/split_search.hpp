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

struct SplitSearch {
  std::vector<SplitSample> samples;      // in the order measured
  double share = 0, time_ms = 0;         // the best of all samples
  double split_share = 0, split_ms = 0;  // the best with work for both devices
  double single_ms = 0;                  // the better device alone
  bool use_both = false;                 // the split gains as much as was asked for
};

struct SearchOptions {
  double start_share = 50;
  double granularity = 1;  // points: shares nearer than this are the same plan
  double min_gain = 0.02;  // a split that gains less falls back to one device
  int max_corrections = 6;
  int repeats = 1;       // runs of one look at a share
  double enough_ms = 0;  // short kernels are repeated until a look took this long
};

// The share at which both devices would end together at the speeds just measured:
// s' = v1 / (v1 + v2) with v1 = s / t1 and v2 = (1 - s) / t2, as in HGuided and Qilin
// (doi:10.1145/1669112.1669121).
double corrected_share(double share, const SplitTime& time);

// Measures both devices alone and the start share, corrects it until it stays, descends to better
// neighbours and lets what is nearly best run in turns. Every step away from the better device must
// gain `min_gain`. `run` is given shares from 0 to 100 and returns the time of one run.
SplitSearch find_split(const std::function<SplitTime(double share)>& run,
                       const SearchOptions& options);

}  // namespace omen::loadbalance
