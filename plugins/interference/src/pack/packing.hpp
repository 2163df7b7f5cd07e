// SPDX-License-Identifier: Apache-2.0
// What two jobs that start together cost and save, from how fast each is beside the other.
#pragma once

#include <vector>

namespace omen::interference {

struct PairTimes {
  double first, second;  // s
};
struct PairSpeeds {
  double first, second;  // while both run, relative to alone
};

struct Packing {
  PairTimes together;             // when each ends, both having started at 0
  double slowdown_1, slowdown_2;  // of the time alone: 0.1 is 10 % longer
  double saving;                  // of the time of both one after the other
};

// The one that ends first slows the other only until then. OMEN_INVALID_ARGUMENT unless times and
// speeds are above 0.
Packing pack_pair(const PairTimes& alone, const PairSpeeds& speeds);

// The same from measured times.
Packing packing_of_times(const PairTimes& alone, const PairTimes& together);

// Speeds while both ran, from times alone and together: the inverse of pack_pair().
PairSpeeds speeds_from_times(const PairTimes& alone, const PairTimes& together);

// When each of several jobs ends that start together. `speeds(running)` gives the speed of each of
// the jobs with these numbers while exactly they run.
template <class Speeds>
std::vector<double> run_together(const std::vector<double>& alone, const Speeds& speeds);

}  // namespace omen::interference

#include "pack/packing_impl.hpp"
