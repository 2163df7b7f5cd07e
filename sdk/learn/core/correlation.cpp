// SPDX-License-Identifier: Apache-2.0
// Correlations of two columns; NaN where one of them is constant.
#include "omen/learn/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "omen/learn/quantile.hpp"
#include "sorted_order.hpp"

namespace omen::learn {
namespace {

constexpr double kNoCorrelation = std::numeric_limits<double>::quiet_NaN();

// Pairs of equal neighbours in a sorted sequence.
template <class Equal>
std::int64_t tied_pairs(std::size_t count, Equal&& equal) {
  std::int64_t pairs = 0, run = 0;
  for (std::size_t i = 1; i < count; ++i) {
    run = equal(i - 1, i) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

// Sorts `values` and returns how many pairs stood in the wrong order.
std::int64_t sort_counting(std::vector<double>& values) {
  std::vector<double> merged(values.size());
  std::int64_t inversions = 0;
  for (std::size_t width = 1; width < values.size(); width *= 2) {
    for (std::size_t first = 0; first < values.size(); first += 2 * width) {
      const std::size_t middle = std::min(first + width, values.size());
      const std::size_t last = std::min(first + 2 * width, values.size());
      std::size_t left = first, right = middle;
      for (std::size_t out = first; out < last; ++out) {
        const bool take_right = right < last && (left == middle || values[right] < values[left]);
        if (take_right) inversions += static_cast<std::int64_t>(middle - left);
        merged[out] = take_right ? values[right++] : values[left++];
      }
    }
    values.swap(merged);
  }
  return inversions;
}

}  // namespace

std::vector<double> midranks(std::span<const double> values) {
  const std::vector<std::uint32_t> order = sorted_order(values);
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + 1 + last) / 2;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

double pearson(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean(x), mean_y = mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx) / std::sqrt(yy) : kNoCorrelation;
}

double spearman(std::span<const double> x, std::span<const double> y) {
  return pearson(midranks(x), midranks(y));
}

// Knight's algorithm, doi:10.1080/01621459.1966.10480879.
double kendall(std::span<const double> x, std::span<const double> y) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] < x[b] : y[a] < y[b]; });
  const auto same_x = [&](std::size_t a, std::size_t b) { return x[order[a]] == x[order[b]]; };
  const auto same = [&](std::size_t a, std::size_t b) {
    return same_x(a, b) && y[order[a]] == y[order[b]];
  };
  const std::int64_t ties_x = tied_pairs(order.size(), same_x);
  const std::int64_t ties_both = tied_pairs(order.size(), same);
  std::vector<double> sorted;
  for (const std::size_t row : order) sorted.push_back(y[row]);
  const std::int64_t discordant = sort_counting(sorted);
  const std::int64_t ties_y = tied_pairs(
      sorted.size(), [&](std::size_t a, std::size_t b) { return sorted[a] == sorted[b]; });
  const auto n = static_cast<std::int64_t>(x.size());
  const std::int64_t pairs = n * (n - 1) / 2;
  if (pairs == ties_x || pairs == ties_y) return kNoCorrelation;
  const std::int64_t balance = pairs - ties_x - ties_y + ties_both - 2 * discordant;
  return static_cast<double>(balance) / std::sqrt(static_cast<double>(pairs - ties_x)) /
         std::sqrt(static_cast<double>(pairs - ties_y));
}

}  // namespace omen::learn
