// SPDX-License-Identifier: Apache-2.0
// Trades joules for watts, the cheapest trade first.
#include "energy/node_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace omen::power {

std::optional<std::vector<std::size_t>> plan_node(const std::vector<std::vector<JobChoice>>& jobs,
                                                  double limit_w) {
  std::vector<std::size_t> chosen;
  double sum = 0;
  for (const std::vector<JobChoice>& choices : jobs) {
    if (choices.empty()) return std::nullopt;
    const auto best = std::min_element(
        choices.begin(), choices.end(),
        [](const JobChoice& a, const JobChoice& b) { return a.joules() < b.joules(); });
    chosen.push_back(static_cast<std::size_t>(best - choices.begin()));
    sum += best->watts;
  }
  while (sum > limit_w) {
    double cheapest = std::numeric_limits<double>::infinity();
    std::size_t job = 0, to = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const JobChoice& now = jobs[j][chosen[j]];
      for (std::size_t c = 0; c < jobs[j].size(); ++c) {
        const double saved = now.watts - jobs[j][c].watts;
        if (saved <= 0) continue;
        // What is saved beyond the limit is of no use.
        const double price = (jobs[j][c].joules() - now.joules()) / std::min(saved, sum - limit_w);
        if (price < cheapest) cheapest = price, job = j, to = c;
      }
    }
    if (!std::isfinite(cheapest)) return std::nullopt;
    sum += jobs[job][to].watts - jobs[job][chosen[job]].watts;
    chosen[job] = to;
  }
  return chosen;
}

std::vector<bool> pareto_front(const std::vector<JobChoice>& choices) {
  std::vector<bool> front(choices.size(), true);
  for (std::size_t a = 0; a < choices.size(); ++a)
    for (std::size_t b = 0; b < choices.size(); ++b) {
      const bool no_worse =
          choices[b].seconds <= choices[a].seconds && choices[b].joules() <= choices[a].joules();
      const bool better =
          choices[b].seconds < choices[a].seconds || choices[b].joules() < choices[a].joules();
      if (no_worse && better) front[a] = false;
    }
  return front;
}

}  // namespace omen::power
