// SPDX-License-Identifier: Apache-2.0
// Dynamic programming over the ends of groups, with prefix sums of waiting times.
#include "plan/groups.hpp"

#include <algorithm>
#include <limits>

namespace omen::ensemble {
namespace {

// Seconds that models [begin, end) wait in one group for each image.
class Waiting {
 public:
  explicit Waiting(const std::vector<double>& rates) : rates_(rates), sum_(rates.size() + 1, 0.0) {
    for (std::size_t i = 0; i < rates.size(); ++i) sum_[i + 1] = sum_[i] + 1 / rates[i];
  }
  double operator()(std::size_t begin, std::size_t end) const {
    return static_cast<double>(end - begin) / rates_[begin] - (sum_[end] - sum_[begin]);
  }

 private:
  const std::vector<double>& rates_;
  std::vector<double> sum_;
};

}  // namespace

double waiting(const std::vector<double>& rates, const std::vector<RateGroup>& groups) {
  const Waiting cost(rates);
  double sum = 0;
  for (const RateGroup& group : groups) sum += cost(group.begin, group.end);
  return sum;
}

std::vector<RateGroup> sharing_groups(const std::vector<double>& rates, std::size_t groups) {
  const std::size_t n = rates.size();
  if (n == 0) return {};
  const std::size_t most = std::clamp<std::size_t>(groups, 1, n);
  if (most == 1) return {{0, n}};
  const Waiting cost(rates);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  // best[g][end]: least waiting of the first `end` models in g groups; from[g][end]: last begin.
  std::vector<std::vector<double>> best(most + 1, std::vector<double>(n + 1, kNever));
  std::vector<std::vector<std::size_t>> from(most + 1, std::vector<std::size_t>(n + 1, 0));
  best[0][0] = 0;
  for (std::size_t g = 1; g <= most; ++g)
    for (std::size_t end = g; end <= n; ++end)
      for (std::size_t begin = g - 1; begin < end; ++begin) {
        const double total = best[g - 1][begin] + cost(begin, end);
        if (total < best[g][end]) {
          best[g][end] = total;
          from[g][end] = begin;
        }
      }
  std::size_t chosen = 1;
  for (std::size_t g = 2; g <= most; ++g)
    if (best[g][n] < best[chosen][n]) chosen = g;
  std::vector<RateGroup> result;
  for (std::size_t end = n, g = chosen; g > 0; --g) {
    result.push_back({from[g][end], end});
    end = from[g][end];
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace omen::ensemble
