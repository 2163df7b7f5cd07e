// SPDX-License-Identifier: Apache-2.0
// The cluster bootstrap equals its naive definition, draw for draw.
#include "stats/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <omen/learn/quantile.hpp>
#include <omen/learn/random.hpp>

#include "reference.hpp"
#include "stats/intervals.hpp"

namespace omen::host::stats {
namespace {

using learn::median;
using learn::quantile;
using learn::Random;

struct Rows {
  std::vector<double> values;
  std::vector<std::int32_t> group;
};

// Groups of uneven size, numbered with gaps, in mixed order; `distinct` values only, for ties.
Rows sample_rows(std::size_t rows, std::size_t groups, std::size_t distinct, std::uint64_t seed) {
  Random random(seed);
  Rows out;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto g =
        static_cast<std::size_t>(random.uniform() * random.uniform() * static_cast<double>(groups));
    out.group.push_back(static_cast<std::int32_t>(3 * g + 5));
    out.values.push_back(static_cast<double>(random.below(distinct)) / 7 - 20);
  }
  return out;
}

std::map<std::int32_t, std::vector<double>> by_group(const Rows& rows) {
  std::map<std::int32_t, std::vector<double>> groups;
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    groups[rows.group[i]].push_back(rows.values[i]);
  return groups;
}

// Every drawn row laid out and sorted. With weights each row is repeated as often as makes its
// group as heavy as any other.
double naive_median(const Rows& rows, const std::vector<std::uint32_t>& times, bool weighted) {
  std::size_t multiple = 1, g = 0;
  const auto groups = by_group(rows);
  if (weighted)
    for (const auto& [number, values] : groups) multiple = std::lcm(multiple, values.size());
  std::vector<double> drawn;
  for (const auto& [number, values] : groups) {
    const std::size_t copies = times[g++] * (weighted ? multiple / values.size() : 1);
    for (std::size_t c = 0; c < copies; ++c)
      drawn.insert(drawn.end(), values.begin(), values.end());
  }
  return median(drawn);
}

void expect_naive(const Rows& rows, bool weighted, int draws) {
  const GroupedSample sample(rows.values, rows.group, weighted, Estimate::kMedian);
  const std::vector<double> medians = sample.bootstrap(draws, 11);
  std::vector<std::uint32_t> times(sample.groups(), 1);
  EXPECT_EQ(sample.estimate(), naive_median(rows, times, weighted));
  for (std::size_t draw = 0; draw < medians.size(); ++draw) {
    draw_groups(11, draw, times);
    const double expected = naive_median(rows, times, weighted);
    ASSERT_EQ(medians[draw], expected) << "draw " << draw << " of " << rows.values.size();
    ASSERT_EQ(sample.estimate(times), expected);
  }
}

TEST(Bootstrap, MediansEqualTheNaiveOnes) {
  for (const std::size_t rows : {1, 2, 3, 10, 64, 65, 500, 3000})
    for (const std::size_t groups : {1, 2, 7, 40})
      for (const std::size_t distinct : {2, 10, 1000000})
        expect_naive(sample_rows(rows, groups, distinct, rows + groups), false, 20);
}

TEST(Bootstrap, EveryRowItsOwnGroup) {
  Rows rows = sample_rows(700, 1, 1000000, 3);
  std::iota(rows.group.begin(), rows.group.end(), -350);
  expect_naive(rows, false, 20);
}

TEST(Bootstrap, LargeGroupsNeedWideCounts) {
  Rows rows = sample_rows(80000, 2, 100000, 5);
  expect_naive(rows, false, 5);
}

TEST(Bootstrap, WeightedMediansEqualRepeatedRows) {
  Random random(9);
  for (int round = 0; round < 10; ++round) {
    Rows rows;
    // Sizes with a small common multiple, so that the repeated rows fit in memory.
    const std::size_t sizes[] = {1, 2, 3, 4, 6, 12, 12, 1};
    for (std::int32_t g = 0; g < 8; ++g)
      for (std::size_t i = 0; i < sizes[g]; ++i) {
        rows.group.push_back(g);
        rows.values.push_back(static_cast<double>(random.below(30)));
      }
    expect_naive(rows, true, 50);
  }
}

TEST(Bootstrap, SizesWithoutACommonMultipleStillBalance) {
  // Products of these primes exceed what exact weights can hold.
  Rows rows;
  std::int32_t g = 0;
  for (const std::size_t size : {101, 103, 107, 109, 113, 127, 131, 137}) {
    rows.values.insert(rows.values.end(), size, g);
    rows.group.insert(rows.group.end(), size, g++);
  }
  const GroupedSample sample(rows.values, rows.group, true, Estimate::kMedian);
  const std::vector<std::uint32_t> five{1, 1, 1, 1, 1, 0, 0, 0};
  EXPECT_EQ(sample.estimate(five), 2);
  const std::vector<std::uint32_t> lopsided{0, 1, 0, 0, 0, 0, 1, 5};
  EXPECT_EQ(sample.estimate(lopsided), 7);
}

TEST(Bootstrap, MeansEqualTheDefinition) {
  const Rows rows = sample_rows(400, 12, 1000, 21);
  const auto groups = by_group(rows);
  for (const bool weighted : {false, true}) {
    const GroupedSample sample(rows.values, rows.group, weighted, Estimate::kMean);
    const std::vector<double> means = sample.bootstrap(50, 4);
    std::vector<std::uint32_t> times(sample.groups());
    for (std::size_t draw = 0; draw < means.size(); ++draw) {
      draw_groups(4, draw, times);
      double sum = 0, mass = 0;
      std::size_t g = 0;
      for (const auto& [number, values] : groups) {
        const double weight = weighted ? 1 / static_cast<double>(values.size()) : 1;
        for (const double value : values) sum += times[g] * weight * value;
        mass += times[g++] * weight * static_cast<double>(values.size());
      }
      ASSERT_NEAR(means[draw], sum / mass, 1e-12);
    }
  }
}

TEST(Bootstrap, ThreadsChangeNothingAndSeedsEverything) {
  const Rows rows = sample_rows(2000, 30, 1000000, 2);
  for (const Estimate estimate : {Estimate::kMedian, Estimate::kMean}) {
    const GroupedSample sample(rows.values, rows.group, false, estimate);
    const std::vector<double> one = sample.bootstrap(101, 8, 1);
    EXPECT_EQ(one, sample.bootstrap(101, 8, 2));
    EXPECT_EQ(one, sample.bootstrap(101, 8, 7));
    EXPECT_EQ(one, sample.bootstrap(101, 8, 1000));
    EXPECT_NE(one, sample.bootstrap(101, 9, 1));
  }
}

TEST(Bootstrap, DrawsAllGroupsEqually) {
  // Four groups have 4^4 equally likely draws; each must come up about as often as the others.
  std::map<std::vector<std::uint32_t>, int> seen;
  constexpr int kDraws = 25600;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<std::uint32_t> times(4);
    draw_groups(3, static_cast<std::uint64_t>(draw), times);
    ++seen[times];
  }
  const auto factorial = [](std::uint32_t n) { return std::tgamma(n + 1.0); };
  double chi_squared = 0;
  for (const auto& [times, count] : seen) {
    double ways = factorial(4);
    for (const std::uint32_t n : times) ways /= factorial(n);
    const double expected = kDraws * ways / 256;
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_EQ(seen.size(), 35U);
  EXPECT_LT(chi_squared, 56.1) << "0.99 quantile of chi-squared with 34 degrees of freedom";
}

TEST(Bootstrap, NothingHasNoEstimate) {
  const GroupedSample sample({}, {}, false, Estimate::kMedian);
  EXPECT_TRUE(std::isnan(sample.estimate()));
  EXPECT_TRUE(sample.bootstrap(10, 1).empty());
}

TEST(Bootstrap, EstimatesOfGroups) {
  const std::vector<double> values{1, 5, 2, 9, 4};
  const std::vector<std::int32_t> group{8, 2, 8, 2, 8};
  EXPECT_EQ(GroupedSample(values, group, false, Estimate::kMedian).of_groups(),
            (std::vector<double>{7, 2}));
  EXPECT_EQ(GroupedSample(values, group, true, Estimate::kMean).of_groups(),
            (std::vector<double>{7, 7.0 / 3}));
}

TEST(Intervals, EqualNumPyAndSciPy) {
  const Reference reference("intervals");
  const auto& draws = reference.all("draws");
  const Interval wide = percentile_interval(draws, 0.95), narrow = percentile_interval(draws, 0.9);
  EXPECT_NEAR(wide.lo, reference.all("percentile")[0], 1e-12);
  EXPECT_NEAR(wide.hi, reference.all("percentile")[1], 1e-12);
  EXPECT_NEAR(narrow.lo, reference.all("percentile_90")[0], 1e-12);
  EXPECT_NEAR(narrow.hi, reference.all("percentile_90")[1], 1e-12);
  const Interval t = t_interval(draws, reference.one("estimate"),
                                static_cast<std::size_t>(reference.one("groups")), 0.95);
  EXPECT_NEAR(t.lo, reference.all("t")[0], 1e-10);
  EXPECT_NEAR(t.hi, reference.all("t")[1], 1e-10);
}

TEST(Intervals, OneRowAGroupGivesTheOrdinaryTInterval) {
  const Reference reference("t_of_mean");
  const auto& x = reference.all("x");
  std::vector<std::int32_t> group(x.size());
  std::iota(group.begin(), group.end(), 0);
  const GroupedSample sample(x, group, false, Estimate::kMean);
  const Interval t = t_interval(sample.bootstrap(20000, 1), sample.estimate(), x.size(), 0.95);
  const double width = reference.all("interval")[1] - reference.all("interval")[0];
  EXPECT_NEAR(t.hi - t.lo, width, 0.03 * width) << "20,000 draws know the error within 1 %";
}

TEST(Quantile, HandlesEndsAndInfinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(median({1, infinity, infinity, 2}), infinity);
  EXPECT_EQ(median({infinity, infinity}), infinity);
  EXPECT_TRUE(std::isnan(median({})));
}

}  // namespace
}  // namespace omen::host::stats
