// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed-rank test with Pratt's treatment of zeros.
#include "stats/signed_rank.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "omen/learn/correlation.hpp"

namespace omen::host::stats {
namespace {

constexpr std::size_t kExactUpTo = 50;

// P(|W - E W| >= |positive - E W|) when each rank takes either sign with equal chance. Midranks are
// halves, so twice the ranks are integers; 2^50 outcomes are counted exactly in a double.
double exact_p(std::span<const double> ranks, double positive, double negative) {
  std::vector<double> ways{1};
  for (const double rank : ranks) {
    const auto step = static_cast<std::size_t>(std::lround(2 * rank));
    ways.resize(ways.size() + step);
    for (std::size_t sum = ways.size(); sum-- > step;) ways[sum] += ways[sum - step];
  }
  const auto least = static_cast<std::size_t>(std::lround(2 * std::min(positive, negative)));
  const double tail =
      std::accumulate(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(least) + 1, 0.0);
  return std::min(1.0, std::ldexp(tail, 1 - static_cast<int>(ranks.size())));
}

double normal_p(std::span<const double> ranks, double positive, double negative) {
  const double squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
  const double z = std::abs(positive - negative) / std::sqrt(squares);
  return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z));
}

}  // namespace

SignedRank signed_rank(std::span<const double> differences) {
  std::vector<double> sizes;
  for (const double d : differences) sizes.push_back(std::abs(d));
  const std::vector<double> ranks = learn::midranks(sizes);
  SignedRank result;
  std::vector<double> kept;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (differences[i] == 0) continue;
    kept.push_back(ranks[i]);
    (differences[i] > 0 ? result.positive : result.negative) += ranks[i];
  }
  if (kept.empty()) return result;
  const bool exact = differences.size() <= kExactUpTo;
  result.p = (exact ? exact_p : normal_p)(kept, result.positive, result.negative);
  result.effect = (result.positive - result.negative) / (result.positive + result.negative);
  return result;
}

}  // namespace omen::host::stats
