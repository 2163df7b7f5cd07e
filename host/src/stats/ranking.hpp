// SPDX-License-Identifier: Apache-2.0
// Three or more predictors over many tasks: Friedman test and groups that cannot be told apart.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace omen::host::stats {

struct Ranking {
  std::vector<double> mean_ranks;  // per contestant, 1 = best
  double chi_squared = 0, p = 1;   // Friedman with tie correction
  // Contestants (by index, best first) that a Wilcoxon-Holm test cannot tell apart; only maximal
  // groups of two or more.
  std::vector<std::vector<int>> indistinguishable;
  std::string warning;  // fewer than 6 tasks: ranks only
};
// losses[task][contestant].
Ranking rank_contestants(const std::vector<std::vector<double>>& losses);

}  // namespace omen::host::stats
