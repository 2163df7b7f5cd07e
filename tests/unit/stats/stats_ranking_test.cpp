// SPDX-License-Identifier: Apache-2.0
// Friedman's test and the groups of a critical-difference diagram.
#include "stats/ranking.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <omen/learn/random.hpp>

#include "reference.hpp"

namespace omen::host::stats {
namespace {

using learn::Random;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Losses = std::vector<std::vector<double>>;

class FriedmanReference : public ::testing::TestWithParam<const char*> {};

TEST_P(FriedmanReference, EqualsSciPy) {
  const Reference reference(std::string("friedman_") + GetParam());
  const auto contestants = static_cast<std::size_t>(reference.one("contestants"));
  const auto& flat = reference.all("losses");
  Losses losses;
  for (auto at = flat.begin(); at != flat.end(); at += static_cast<std::ptrdiff_t>(contestants))
    losses.emplace_back(at, at + static_cast<std::ptrdiff_t>(contestants));
  const Friedman result = friedman(losses);
  EXPECT_NEAR(result.chi_squared, reference.one("chi_squared"), 1e-10);
  EXPECT_NEAR(result.p, reference.one("p"), 1e-12);
  for (std::size_t c = 0; c < contestants; ++c)
    EXPECT_NEAR(result.mean_ranks[c], reference.all("mean_ranks")[c], 1e-12);
}
INSTANTIATE_TEST_SUITE_P(Cases, FriedmanReference, ::testing::Values("plain", "ties"));

// Contestant c has loss level[c], each task in a unit of its own, with noise of relative size
// `spread`.
Losses make_losses(std::size_t tasks, const std::vector<double>& level, double spread) {
  Random random(5);
  Losses losses;
  for (std::size_t t = 0; t < tasks; ++t) {
    const double unit = std::pow(10.0, static_cast<double>(random.below(7)));
    losses.emplace_back();
    for (const double l : level)
      losses.back().push_back(unit * l * (1 + spread * (random.uniform() - 0.5)));
  }
  return losses;
}

TEST(Ranking, FindsGroupsWhateverTheUnits) {
  const Ranking ranking = rank_contestants(make_losses(20, {3, 1, 1.02, 3.1}, 0.4));
  EXPECT_LT(ranking.p, 0.001);
  EXPECT_THAT(ranking.indistinguishable,
              UnorderedElementsAre(UnorderedElementsAre(1, 2), UnorderedElementsAre(0, 3)));
  EXPECT_EQ(ranking.warning, "");
}

TEST(Ranking, EveryoneApart) {
  const Ranking ranking = rank_contestants(make_losses(12, {3, 2, 1}, 0.01));
  EXPECT_THAT(ranking.mean_ranks, ElementsAre(3, 2, 1));
  EXPECT_TRUE(ranking.indistinguishable.empty());
}

TEST(Ranking, NoDifferenceIsOneGroupBestFirst) {
  const Ranking ranking = rank_contestants(make_losses(8, {1, 1, 1, 1}, 0.5));
  ASSERT_GE(ranking.p, 0.05);
  ASSERT_EQ(ranking.indistinguishable.size(), 1U);
  const std::vector<int>& group = ranking.indistinguishable.front();
  EXPECT_THAT(group, UnorderedElementsAre(0, 1, 2, 3));
  for (std::size_t i = 1; i < group.size(); ++i)
    EXPECT_LE(ranking.mean_ranks[static_cast<std::size_t>(group[i - 1])],
              ranking.mean_ranks[static_cast<std::size_t>(group[i])]);
}

TEST(Ranking, GroupsMayOverlap) {
  // The middle one cannot be told from either end, but the ends can.
  Losses losses;
  for (int t = 0; t < 10; ++t) {
    const double swing = t % 2 == 0 ? 0.6 : -0.6;
    losses.push_back({1.0, 1.25 + swing, 1.5 + 0.001 * t, 9});
  }
  const Ranking ranking = rank_contestants(losses);
  ASSERT_LT(ranking.p, 0.05);
  EXPECT_THAT(ranking.indistinguishable,
              UnorderedElementsAre(UnorderedElementsAre(0, 1), UnorderedElementsAre(1, 2)));
}

TEST(Ranking, TooFewTasksOrContestantsGiveRanksOnly) {
  for (const auto& losses : {make_losses(5, {1, 2, 3}, 0.01), make_losses(9, {1, 2}, 0.01)}) {
    const Ranking ranking = rank_contestants(losses);
    EXPECT_EQ(ranking.mean_ranks.size(), losses.front().size());
    EXPECT_EQ(ranking.p, 1);
    EXPECT_TRUE(ranking.indistinguishable.empty());
    EXPECT_THAT(ranking.warning, HasSubstr("ranks only"));
  }
}

TEST(Ranking, MissingAnswersComeLast) {
  Losses losses = make_losses(8, {1, 2, 3}, 0.01);
  losses[0][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(rank_contestants(losses).mean_ranks[0], (7 * 1 + 3) / 8.0, 1e-12);
}

TEST(Ranking, NothingButTies) {
  const Ranking ranking = rank_contestants(Losses(7, std::vector<double>(3, 1.0)));
  EXPECT_EQ(ranking.p, 1);
  EXPECT_THAT(ranking.mean_ranks, ElementsAre(2, 2, 2));
  EXPECT_EQ(ranking.indistinguishable.size(), 1U);
}

TEST(Ranking, NoTasks) {
  EXPECT_TRUE(rank_contestants({}).mean_ranks.empty());
}

}  // namespace
}  // namespace omen::host::stats
