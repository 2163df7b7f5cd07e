// SPDX-License-Identifier: Apache-2.0
// Three or more predictors over many tasks: Friedman test and groups that cannot be told apart.
#include "stats/ranking.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>

#include "omen/learn/correlation.hpp"
#include "stats/paired.hpp"
#include "stats/signed_rank.hpp"

namespace omen::host::stats {
namespace {

constexpr double kRanksDiffer = 0.05;
constexpr std::size_t kTasks = 6, kContestants = 3;

using Losses = std::vector<std::vector<double>>;
using Relation = std::vector<std::vector<bool>>;

Losses missing_last(Losses losses) {
  for (std::vector<double>& task : losses)
    for (double& loss : task)
      if (std::isnan(loss)) loss = std::numeric_limits<double>::infinity();
  return losses;
}

// Sum of t^3 - t over the ties of one task.
double tie_term(const std::vector<double>& ranks) {
  std::map<double, double> count;
  for (const double rank : ranks) ++count[rank];
  double sum = 0;
  for (const auto& [rank, n] : count) sum += n * n * n - n;
  return sum;
}

// Antisymmetric and free of the unit; two missing answers, or two perfect ones, are equal.
double relative_difference(double a, double b) {
  if (a == b) return 0;
  if (std::isinf(a) || std::isinf(b)) return a > b ? 1 : -1;
  return (a - b) / (std::abs(a) + std::abs(b));
}

double pair_p(const Losses& losses, std::size_t a, std::size_t b) {
  std::vector<double> differences;
  for (const std::vector<double>& task : losses)
    differences.push_back(relative_difference(task[a], task[b]));
  return signed_rank(differences).p;
}

// alike[i][j]: a Holm-corrected test does not tell i and j apart.
Relation alike_pairs(const Losses& losses, std::size_t contestants) {
  std::vector<double> p;
  for (std::size_t a = 0; a < contestants; ++a)
    for (std::size_t b = a + 1; b < contestants; ++b) p.push_back(pair_p(losses, a, b));
  p = holm(p);
  Relation alike(contestants, std::vector<bool>(contestants));
  std::size_t pair = 0;
  for (std::size_t a = 0; a < contestants; ++a)
    for (std::size_t b = a + 1; b < contestants; ++b)
      alike[a][b] = alike[b][a] = p[pair++] >= kRanksDiffer;
  return alike;
}

// Bron and Kerbosch, doi:10.1145/362342.362367: every maximal clique of two or more.
class Cliques {
 public:
  Cliques(const Relation& alike, std::vector<int> order) : alike_(alike) {
    extend({}, std::move(order), {});
  }
  std::vector<std::vector<int>> found;

 private:
  std::vector<int> neighbours(const std::vector<int>& of, int member) const {
    std::vector<int> kept;
    for (const int other : of)
      if (alike_[static_cast<std::size_t>(member)][static_cast<std::size_t>(other)])
        kept.push_back(other);
    return kept;
  }

  void extend(const std::vector<int>& clique, std::vector<int> candidates,
              std::vector<int> excluded) {
    if (candidates.empty() && excluded.empty() && clique.size() > 1) found.push_back(clique);
    while (!candidates.empty()) {
      const int member = candidates.front();
      std::vector<int> larger(clique);
      larger.push_back(member);
      extend(larger, neighbours(candidates, member), neighbours(excluded, member));
      candidates.erase(candidates.begin());
      excluded.push_back(member);
    }
  }

  const Relation& alike_;
};

std::vector<int> best_first(const std::vector<double>& mean_ranks) {
  std::vector<int> order(mean_ranks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return mean_ranks[static_cast<std::size_t>(a)] < mean_ranks[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace

Friedman friedman(const Losses& losses) {
  Friedman result;
  if (losses.empty() || losses.front().empty()) return result;
  const auto n = static_cast<double>(losses.size()), k = static_cast<double>(losses.front().size());
  result.mean_ranks.assign(losses.front().size(), 0.0);
  double ties = 0;
  for (const std::vector<double>& task : losses) {
    const std::vector<double> ranks = learn::midranks(task);
    for (std::size_t c = 0; c < ranks.size(); ++c) result.mean_ranks[c] += ranks[c];
    ties += tie_term(ranks);
  }
  for (double& rank : result.mean_ranks) rank /= n;
  const double correction = 1 - ties / (n * k * (k * k - 1));
  if (k < 2 || !(correction > 0)) return result;
  double squares = 0;
  for (const double rank : result.mean_ranks)
    squares += (rank - (k + 1) / 2) * (rank - (k + 1) / 2);
  result.chi_squared = 12 * n * squares / (k * (k + 1)) / correction;
  result.p = boost::math::cdf(
      boost::math::complement(boost::math::chi_squared(k - 1), result.chi_squared));
  return result;
}

Ranking rank_contestants(const Losses& given) {
  const Losses losses = missing_last(given);
  const Friedman test = friedman(losses);
  Ranking ranking;
  ranking.mean_ranks = test.mean_ranks;
  const std::size_t contestants = test.mean_ranks.size();
  if (losses.size() < kTasks || contestants < kContestants) {
    ranking.warning = std::to_string(contestants) + " predictors over " +
                      std::to_string(losses.size()) + " tasks: ranks only, because a test needs " +
                      std::to_string(kContestants) + " over " + std::to_string(kTasks);
    return ranking;
  }
  ranking.chi_squared = test.chi_squared;
  ranking.p = test.p;
  const std::vector<int> order = best_first(test.mean_ranks);
  if (test.p >= kRanksDiffer)
    ranking.indistinguishable = {order};
  else
    ranking.indistinguishable = Cliques(alike_pairs(losses, contestants), order).found;
  return ranking;
}

}  // namespace omen::host::stats
