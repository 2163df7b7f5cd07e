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

TEST(Correlation, RowsWithGapsDoNotCount) {
  const double gap = std::nan("");
  const std::vector<double> x = {1, 2, gap, 4, 5}, y = {2, 1, 9, gap, 7};
  const Correlated found = correlate(Correlation::kPearson, x, y);
  EXPECT_EQ(found.rows, 3U);
  EXPECT_DOUBLE_EQ(found.value,
                   pearson(std::vector<double>{1, 2, 5}, std::vector<double>{2, 1, 7}));
}

TEST(Correlation, MatricesEqualTheirPairs) {
  Random random(4);
  std::vector<std::vector<double>> columns(5, std::vector<double>(333));
  for (std::vector<double>& column : columns)
    for (double& value : column) value = std::floor(20 * random.uniform());
  columns[4].assign(333, 7.0);
  for (const bool gaps : {false, true}) {
    if (gaps) columns[1][17] = std::nan("");
    for (const Correlation kind :
         {Correlation::kPearson, Correlation::kSpearman, Correlation::kKendall}) {
      const std::vector<double> matrix = correlation_matrix(kind, columns, 2);
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          EXPECT_NEAR(matrix[i * 5 + j], correlate(kind, columns[i], columns[j]).value, 1e-12);
      EXPECT_TRUE(std::isnan(matrix[4]));
    }
  }
}

TEST(Correlation, LongColumnsAreRankedAsShortOnes) {
  std::vector<double> values = {0.0, -0.0, -1e300, 1e-300, -1e-300, 2, 2};
  Random random(7);
  while (values.size() < 3000) values.push_back(std::floor(900 * random.uniform()) / 7 - 50);
  const std::vector<double> ranks = midranks(values);
  for (std::size_t i = 0; i < values.size(); i += 13) {
    double below = 0, same = 0;
    for (const double other : values) {
      below += other < values[i] ? 1 : 0;
      same += other == values[i] ? 1 : 0;
    }
    EXPECT_EQ(ranks[i], below + (same + 1) / 2);
  }
}

TEST(Correlation, MatricesOfManyRowsDoNotDependOnThreads) {
  Random random(8);
  std::vector<std::vector<double>> columns(7, std::vector<double>(5003));
  for (std::vector<double>& column : columns)
    for (double& value : column) value = 1e6 + random.uniform();
  const std::vector<double> alone = correlation_matrix(Correlation::kPearson, columns, 1);
  EXPECT_EQ(correlation_matrix(Correlation::kPearson, columns, 3), alone);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 7; ++j)
      EXPECT_NEAR(alone[i * 7 + j], pearson(columns[i], columns[j]), 1e-9);
}

TEST(Correlation, KendallOfAnyNumberOfRowsEqualsItsPairs) {
  Random random(9);
  for (const std::size_t rows : {2, 3, 7, 8, 9, 16, 23, 64, 100, 1000}) {
    std::vector<std::vector<double>> columns(2, std::vector<double>(rows));
    for (std::vector<double>& column : columns)
      for (double& value : column)
        value = std::floor(2.0 * static_cast<double>(rows) * random.uniform());
    columns[1][0] = columns[1][1] + 1;
    columns[0][0] = columns[0][1] + 1;
    double balance = 0, differ_x = 0, differ_y = 0;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double x = columns[0][i] - columns[0][j], y = columns[1][i] - columns[1][j];
        balance += x * y > 0 ? 1 : x * y < 0 ? -1 : 0;
        differ_x += x != 0 ? 1 : 0;
        differ_y += y != 0 ? 1 : 0;
      }
    EXPECT_NEAR(correlation_matrix(Correlation::kKendall, columns, 1)[1],
                balance / std::sqrt(differ_x * differ_y), 1e-12)
        << rows;
  }
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
