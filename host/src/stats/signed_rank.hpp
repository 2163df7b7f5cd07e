// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed-rank test with Pratt's treatment of zeros.
#pragma once

#include <span>
#include <vector>

namespace omen::host::stats {

struct SignedRank {
  double positive = 0, negative = 0;  // sums of ranks by sign; zeros are ranked, then left out
  double p = 1;                       // two-sided
  // Matched-pairs rank-biserial correlation: -1 where every difference is negative, 1 where every
  // one is positive.
  double effect = 0;
};
// Exact over all sign flips up to 50 differences, whatever ties and zeros; beyond, a normal with
// the variance of those flips, which is the tie-corrected one.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace omen::host::stats
