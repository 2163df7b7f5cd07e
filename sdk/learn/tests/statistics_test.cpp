// SPDX-License-Identifier: Apache-2.0
// Quantiles and correlations against NumPy and SciPy 1.17; random numbers against their definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "omen/learn/correlation.hpp"
#include "omen/learn/quantile.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

using testing::ElementsAre;

const std::vector<double> kA = {1, 2, 2, 3, 5, 8, 13, 1, 4, 4.5};
const std::vector<double> kB = {2, 1, 4, 3, 8, 5, 9, 0, 4, 4};

TEST(Correlation, OfThreeKindsWithTies) {
  EXPECT_NEAR(pearson(kA, kB), 0.8254176222731378, 1e-14);
  EXPECT_NEAR(spearman(kA, kB), 0.907424695803614, 1e-14);
  EXPECT_NEAR(kendall(kA, kB), 0.8000553690695199, 1e-14);
}

TEST(Correlation, IsUnknownForAConstant) {
  const std::vector<double> same(kA.size(), 3);
  EXPECT_TRUE(std::isnan(pearson(kA, same)));
  EXPECT_TRUE(std::isnan(spearman(kA, same)));
  EXPECT_TRUE(std::isnan(kendall(kA, same)));
}

TEST(Correlation, TiesShareTheirRank) {
  EXPECT_THAT(midranks(std::vector<double>{5, 1, 5, 3}), ElementsAre(3.5, 1, 3.5, 2));
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  const double share[] = {0, 0.1, 0.25, 0.5, 0.9, 1};
  const double expected[] = {1, 1, 2, 3.5, 8.5, 13};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(quantile(kA, share[i]), expected[i], 1e-12) << share[i];
  EXPECT_EQ(median(kA), 3.5);
  EXPECT_NEAR(mean(kA), 4.35, 1e-14);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Random, IsSplitMix) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
  EXPECT_EQ(random.next(), 9817491932198370423ULL);
}

TEST(Random, DrawsHaveTheirMoments) {
  Random random(1, 2);
  double sum = 0, squares = 0, of_uniform = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
    of_uniform += random.uniform();
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(of_uniform / kDraws, 0.5, 0.01);
}

TEST(Random, PermutationsHoldEveryNumberOnce) {
  std::vector<std::ptrdiff_t> order = Random(3).permutation(50);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::ptrdiff_t i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace omen::learn
