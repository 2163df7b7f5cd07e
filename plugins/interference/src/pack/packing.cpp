// SPDX-License-Identifier: Apache-2.0
// The closed form for two jobs and its inverse.
#include "pack/packing.hpp"

#include <omen/error.hpp>

namespace omen::interference {
namespace {

void require_positive(double a, double b, const char* what) {
  if (a > 0 && b > 0) return;
  throw Error(OMEN_INVALID_ARGUMENT, std::string(what) + " of a pair must be above 0");
}

}  // namespace

Packing packing_of_times(const PairTimes& alone, const PairTimes& together) {
  require_positive(alone.first, alone.second, "times");
  const double longest = together.first > together.second ? together.first : together.second;
  return {together, together.first / alone.first - 1, together.second / alone.second - 1,
          1 - longest / (alone.first + alone.second)};
}

Packing pack_pair(const PairTimes& alone, const PairSpeeds& speeds) {
  require_positive(alone.first, alone.second, "times");
  require_positive(speeds.first, speeds.second, "speeds");
  const double end_1 = alone.first / speeds.first, end_2 = alone.second / speeds.second;
  const PairTimes together = end_1 <= end_2
                                 ? PairTimes{end_1, alone.second + (1 - speeds.second) * end_1}
                                 : PairTimes{alone.first + (1 - speeds.first) * end_2, end_2};
  return packing_of_times(alone, together);
}

PairSpeeds speeds_from_times(const PairTimes& alone, const PairTimes& together) {
  require_positive(alone.first, alone.second, "times");
  require_positive(together.first, together.second, "times");
  if (together.first <= together.second)
    return {alone.first / together.first, 1 - (together.second - alone.second) / together.first};
  return {1 - (together.first - alone.first) / together.second, alone.second / together.second};
}

}  // namespace omen::interference
