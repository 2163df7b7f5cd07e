// SPDX-License-Identifier: Apache-2.0
// Pairs of the greatest total weight among many.
#pragma once

#include <vector>

namespace omen::interference {

struct WeightedPair {
  int first, second;
  double weight;  // pairs of weight 0 or less are never chosen
};

// For each of `count` things its partner, -1 for none; exact (LEMON's weighted matching).
std::vector<int> best_matching(int count, const std::vector<WeightedPair>& pairs);

}  // namespace omen::interference
