// SPDX-License-Identifier: Apache-2.0
// Signed ranks, Holm's correction and verdicts.
#include "stats/paired.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <omen/learn/correlation.hpp>
#include <omen/learn/random.hpp>

#include "omen/error.hpp"
#include "reference.hpp"
#include "stats/signed_rank.hpp"

namespace omen::host::stats {
namespace {

using learn::midranks;
using learn::Random;

using ::testing::HasSubstr;

constexpr double kNoPair = std::numeric_limits<double>::quiet_NaN();

class SignedRankReference : public ::testing::TestWithParam<const char*> {};

TEST_P(SignedRankReference, EqualsSciPy) {
  const Reference reference(std::string("wilcoxon_") + GetParam());
  EXPECT_NEAR(signed_rank(reference.all("x")).p, reference.one("p"), 1e-12);
}
INSTANTIATE_TEST_SUITE_P(Cases, SignedRankReference,
                         ::testing::Values("exact_6", "exact_11", "exact_25", "exact_50", "flips_8",
                                           "flips_13", "normal_51", "normal_ties_51", "normal_200",
                                           "normal_ties_200"));

// Over all sign flips of the nonzero differences: how many are as extreme as the one seen.
double enumerated_p(const std::vector<double>& differences) {
  std::vector<double> sizes, ranks;
  for (const double d : differences) sizes.push_back(std::abs(d));
  const std::vector<double> all = midranks(sizes);
  double seen = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (differences[i] == 0) continue;
    ranks.push_back(all[i]);
    seen += differences[i] > 0 ? all[i] : -all[i];
  }
  double extreme = 0;
  const unsigned flips = 1U << ranks.size();
  for (unsigned flip = 0; flip < flips; ++flip) {
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += flip >> i & 1 ? ranks[i] : -ranks[i];
    extreme += std::abs(sum) >= std::abs(seen) - 1e-9;
  }
  return extreme / flips;
}

TEST(SignedRank, EqualsEnumerationWithTiesAndZeros) {
  Random random(17);
  for (std::size_t n = 1; n <= 12; ++n)
    for (int round = 0; round < 10; ++round) {
      std::vector<double> differences;
      for (std::size_t i = 0; i < n; ++i)
        differences.push_back(static_cast<double>(random.below(7)) - 2);
      EXPECT_NEAR(signed_rank(differences).p, enumerated_p(differences), 1e-14);
    }
}

TEST(SignedRank, NothingButZerosIsNoEvidence) {
  const std::vector<double> zeros(20, 0.0);
  EXPECT_EQ(signed_rank(zeros).p, 1);
  EXPECT_EQ(signed_rank(zeros).effect, 0);
  EXPECT_EQ(signed_rank({}).p, 1);
}

TEST(SignedRank, AllOnOneSide) {
  const std::vector<double> negative{-1, -2, -3, -4, -5, -6};
  const SignedRank test = signed_rank(negative);
  EXPECT_EQ(test.effect, -1);
  EXPECT_DOUBLE_EQ(test.p, 2.0 / 64);
}

TEST(Holm, ByHand) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
  EXPECT_EQ(holm(std::vector<double>{0.6, 0.7}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Holm, LeavesOutWhatWasNotTested) {
  const auto adjusted = holm(std::vector<double>{0.02, kNoPair, 0.03});
  EXPECT_NEAR(adjusted[0], 0.04, 1e-15);
  EXPECT_TRUE(std::isnan(adjusted[1]));
  EXPECT_NEAR(adjusted[2], 0.04, 1e-15);
}

struct PairedLosses {
  std::vector<double> baseline, challenger;
  std::vector<std::int32_t> group;
};

// Each loss of the challenger is `factor` times the baseline's, with noise of relative size
// `spread`.
PairedLosses make_losses(std::int32_t groups, int rows, double factor, double spread) {
  Random random(41);
  PairedLosses losses;
  for (std::int32_t g = 0; g < groups; ++g)
    for (int i = 0; i < rows; ++i) {
      losses.baseline.push_back(5 + 5 * random.uniform());
      losses.challenger.push_back(losses.baseline.back() *
                                  (factor + spread * (random.uniform() - 0.5)));
      losses.group.push_back(g);
    }
  return losses;
}

PairedResult compare(const PairedLosses& losses, const PairedSettings& settings = {}) {
  return compare_paired(losses.baseline, losses.challenger, losses.group, settings);
}

TEST(Paired, AClearImprovementIsBetter) {
  const PairedResult result = compare(make_losses(25, 8, 0.9, 0.1));
  EXPECT_EQ(result.verdict, Verdict::kBetter);
  EXPECT_EQ(result.interval, "percentile");
  EXPECT_EQ(result.rows, 200);
  EXPECT_EQ(result.groups, 25);
  EXPECT_EQ(result.warning, "");
  EXPECT_LT(result.lo, result.difference);
  EXPECT_LT(result.difference, result.hi);
  EXPECT_NEAR(result.relative, result.difference / result.baseline_loss, 1e-15);
  EXPECT_NEAR(result.relative, -0.1, 0.02);
  EXPECT_EQ(result.wins + result.ties + result.losses, 200);
  EXPECT_LT(result.effect, -0.9);
}

TEST(Paired, TheOtherWayRoundIsWorse) {
  PairedLosses losses = make_losses(25, 8, 0.9, 0.1);
  std::swap(losses.baseline, losses.challenger);
  const PairedResult result = compare(losses);
  EXPECT_EQ(result.verdict, Verdict::kWorse);
  EXPECT_GT(result.effect, 0.9);
}

TEST(Paired, TheSameIsEquivalent) {
  PairedLosses losses = make_losses(25, 8, 1, 0);
  losses.challenger = losses.baseline;
  const PairedResult result = compare(losses);
  EXPECT_EQ(result.verdict, Verdict::kEquivalent);
  EXPECT_EQ(result.p, 1);
  EXPECT_EQ(result.ties, 200);
  EXPECT_EQ(result.lo, 0);
  EXPECT_EQ(result.hi, 0);
}

TEST(Paired, ASmallCertainDifferenceIsEquivalentUntilTheRegionShrinks) {
  const PairedLosses losses = make_losses(40, 10, 0.995, 0.005);
  EXPECT_EQ(compare(losses).verdict, Verdict::kEquivalent);
  PairedSettings strict;
  strict.rope = 0.001;
  EXPECT_EQ(compare(losses, strict).verdict, Verdict::kBetter);
}

TEST(Paired, NoiseIsInconclusive) {
  EXPECT_EQ(compare(make_losses(25, 4, 1, 0.8)).verdict, Verdict::kInconclusive);
}

TEST(Paired, FewGroupsGiveTIntervalsAndAWarning) {
  const PairedResult result = compare(make_losses(12, 8, 0.9, 0.1));
  EXPECT_EQ(result.interval, "t");
  EXPECT_EQ(result.verdict, Verdict::kBetter);
  EXPECT_THAT(result.warning, HasSubstr("12 groups"));
}

TEST(Paired, FewerThanSixGroupsGiveDifferencesOnly) {
  const PairedResult five = compare(make_losses(5, 40, 0.5, 0.01));
  EXPECT_EQ(five.verdict, Verdict::kDifferencesOnly);
  EXPECT_TRUE(std::isnan(five.p));
  EXPECT_TRUE(std::isnan(five.p_holm));
  EXPECT_LT(five.hi, 0);
  EXPECT_THAT(five.warning, HasSubstr("differences only"));
  EXPECT_EQ(compare(make_losses(6, 40, 0.5, 0.01)).verdict, Verdict::kBetter);

  const PairedResult one = compare(make_losses(1, 40, 0.5, 0.01));
  EXPECT_EQ(one.interval, "");
  EXPECT_TRUE(std::isnan(one.lo));
  EXPECT_LT(one.difference, 0);
}

TEST(Paired, NoRows) {
  const PairedResult result = compare_paired({}, {}, {}, {});
  EXPECT_EQ(result.verdict, Verdict::kDifferencesOnly);
  EXPECT_TRUE(std::isnan(result.difference));
}

TEST(Paired, RowsWithoutALossAreCounted) {
  PairedLosses losses = make_losses(25, 8, 0.9, 0.1);
  losses.baseline[3] = kNoPair;
  losses.challenger[7] = std::numeric_limits<double>::infinity();
  const PairedResult result = compare(losses);
  EXPECT_EQ(result.rows, 198);
  EXPECT_THAT(result.warning, HasSubstr("2 rows without a finite loss left out"));
}

TEST(Paired, APerfectBaselineHasNoRelativeDifference) {
  PairedLosses losses = make_losses(25, 4, 1, 0.1);
  std::fill(losses.baseline.begin(), losses.baseline.end(), 0.0);
  const PairedResult result = compare(losses);
  EXPECT_EQ(result.verdict, Verdict::kWorse);
  EXPECT_TRUE(std::isnan(result.relative));
}

TEST(Paired, GroupsCountOnceWhereAsked) {
  // One large group has gained, nine small ones have lost.
  PairedLosses losses;
  for (std::int32_t g = 0; g < 10; ++g)
    for (int i = 0; i < (g == 0 ? 100 : 3); ++i) {
      losses.baseline.push_back(10);
      losses.challenger.push_back(g == 0 ? 9 : 12 + 0.1 * g);
      losses.group.push_back(g);
    }
  PairedSettings settings;
  for (const Estimate estimate : {Estimate::kMedian, Estimate::kMean}) {
    settings.estimate = estimate;
    settings.by_group = false;
    const PairedResult by_row = compare(losses, settings);
    EXPECT_LT(by_row.difference, 0);
    EXPECT_THAT(by_row.warning, HasSubstr("most groups the other"));
    settings.by_group = true;
    EXPECT_GT(compare(losses, settings).difference, 1.5);
  }
}

TEST(Paired, ThreadsChangeNothing) {
  const PairedLosses losses = make_losses(25, 8, 0.99, 0.1);
  PairedSettings settings;
  const PairedResult one = compare(losses, settings);
  settings.threads = 4;
  const PairedResult four = compare(losses, settings);
  EXPECT_EQ(one.lo, four.lo);
  EXPECT_EQ(one.hi, four.hi);
}

TEST(Paired, RefusesColumnsOfDifferentLength) {
  PairedLosses losses = make_losses(25, 8, 0.9, 0.1);
  losses.group.pop_back();
  EXPECT_THROW(compare(losses), Error);
}

TEST(Judge, CorrectsAcrossAllAndLeavesTheBaseline) {
  PairedResult clear;
  clear.groups = 30;
  clear.baseline_loss = 10;
  clear.lo = -3;
  clear.hi = -1;
  clear.p = 0.03;
  PairedResult baseline;
  baseline.verdict = Verdict::kBaseline;
  PairedResult few = clear;
  few.groups = 5;
  few.p = kNoPair;
  std::vector<PairedResult> alone{clear, baseline, few};
  judge(alone, 0.01);
  EXPECT_EQ(alone[0].verdict, Verdict::kBetter);
  EXPECT_EQ(alone[1].verdict, Verdict::kBaseline);
  EXPECT_EQ(alone[2].verdict, Verdict::kDifferencesOnly);

  std::vector<PairedResult> two{clear, clear};
  judge(two, 0.01);
  EXPECT_NEAR(two[0].p_holm, 0.06, 1e-15);
  EXPECT_EQ(two[0].verdict, Verdict::kInconclusive);
  judge(two, 0.31);
  EXPECT_EQ(two[0].verdict, Verdict::kEquivalent) << "whatever p says";
}

TEST(Verdict, Names) {
  EXPECT_STREQ(verdict_name(Verdict::kBaseline), "BASELINE");
  EXPECT_STREQ(verdict_name(Verdict::kDifferencesOnly), "DIFFERENCES_ONLY");
}

}  // namespace
}  // namespace omen::host::stats
