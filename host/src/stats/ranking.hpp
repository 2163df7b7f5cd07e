// SPDX-License-Identifier: Apache-2.0
// Three or more predictors over many tasks: Friedman test and groups that cannot be told apart.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace omen::host::stats {

struct Friedman {
  std::vector<double> mean_ranks;  // per contestant, 1 = best
  double chi_squared = 0, p = 1;   // with tie correction
};
// losses[task][contestant].
Friedman friedman(const std::vector<std::vector<double>>& losses);

struct Ranking {
  std::vector<double> mean_ranks;  // per contestant, 1 = best
  double chi_squared = 0, p = 1;   // Friedman with tie correction
  // Contestants (by index, best first) of which a Wilcoxon-Holm test tells no two apart; only
  // maximal groups of two or more. A contestant may be in several. All of them where Friedman's
  // test finds no difference.
  std::vector<std::vector<int>> indistinguishable;
  std::string warning;  // fewer than 3 contestants or 6 tasks: ranks only
};
// losses[task][contestant]; NaN takes the last place of its task. Tasks may differ in unit: pairs
// are tested on (a - b) / (a + b).
Ranking rank_contestants(const std::vector<std::vector<double>>& losses);

}  // namespace omen::host::stats
