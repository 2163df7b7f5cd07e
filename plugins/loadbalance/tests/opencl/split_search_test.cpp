// SPDX-License-Identifier: Apache-2.0
// The search on devices with known speeds.
#include "opencl/split_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace omen::loadbalance {
namespace {

// Two devices that take `launch` ms and then `first` or `second` ms for the whole range.
std::function<SplitTime(double)> machine(double first, double second, double launch = 0) {
  return [=](double share) {
    SplitTime time;
    if (share > 0) time.first_ms = launch + first * share / 100;
    if (share < 100) time.second_ms = launch + second * (100 - share) / 100;
    time.total_ms = std::max(time.first_ms, time.second_ms);
    return time;
  };
}

TEST(Correction, BalancesMeasuredSpeeds) {
  EXPECT_DOUBLE_EQ(corrected_share(50, {10, 10, 5}), 100.0 / 3);
  EXPECT_DOUBLE_EQ(corrected_share(0, {10, 0, 5}), 0);
}

TEST(Search, FindsTheBalanceFromAnyStart) {
  for (const double start : {1.0, 20.0, 50.0, 99.0})
    for (const double ratio : {0.1, 0.5, 1.0, 3.0, 9.0}) {
      SearchOptions options;
      options.start_share = start;
      const SplitSearch found = find_split(machine(100, 100 * ratio), options);
      const double best = 100 * ratio / (1 + ratio);
      EXPECT_NEAR(found.share, best, 2.5) << start << " " << ratio;
      EXPECT_TRUE(found.use_both);
      EXPECT_LE(found.samples.size(), 14u);
    }
}

TEST(Search, FallsBackToOneDeviceWhereASplitGainsTooLittle) {
  const SplitSearch found = find_split(machine(1, 1000, 5), {});
  EXPECT_FALSE(found.use_both);
  EXPECT_EQ(found.share, 100);
  EXPECT_DOUBLE_EQ(found.time_ms, found.single_ms);
  EXPECT_EQ(find_split(machine(1000, 1, 5), {}).share, 0);
}

TEST(Search, LeavesABalanceThatIsNotTheBest) {
  // While both work, each runs at half of its speed: the faster one should work alone.
  const auto contended = [](double share) {
    SplitTime time = machine(10, 30)(share);
    if (share > 0 && share < 100) time.total_ms *= 1 + std::fabs(share - 95) / 50;
    return time;
  };
  const SplitSearch found = find_split(contended, {});
  EXPECT_GT(found.split_share, 80);
}

TEST(Search, CrossesAPlateauToItsLowerEnd) {
  // The first device borrows a core of the second: until a third, only launches cost.
  const auto shared = [](double share) {
    SplitTime time;
    time.first_ms = share * 0.5;
    time.second_ms = 20 + share * 0.02;
    time.total_ms = std::max(share > 0 ? time.first_ms : 0, share < 100 ? time.second_ms : 0);
    return time;
  };
  EXPECT_LE(find_split(shared, {}).split_share, 10);
}

TEST(Search, MeasuresNearlyEqualSharesAgain) {
  // Every first run of a share is disturbed by up to 4 %, later ones are not.
  std::map<double, int> looks;
  const auto noisy = [&looks](double share) {
    SplitTime time = machine(100, 50)(share);
    if (looks[share]++ == 0) time.total_ms *= 1 + 0.04 * std::fabs(std::sin(7 * share));
    return time;
  };
  const SplitSearch found = find_split(noisy, {});
  EXPECT_NEAR(found.split_share, 100.0 / 3, 2.5);
  EXPECT_DOUBLE_EQ(found.split_ms, machine(100, 50)(found.split_share).total_ms);
}

TEST(Search, LetsNearSharesTakeTurns) {
  // Runs of one share in a row become faster, more so where the first device has much to do.
  double last = -1;
  int in_a_row = 0;
  const auto warming = [&](double share) {
    in_a_row = share == last ? in_a_row + 1 : 0;
    last = share;
    SplitTime time{20 + share / 20, share, 20};
    time.total_ms *= 1 - 0.001 * share * std::min(in_a_row, 2);
    return time;
  };
  SearchOptions options;
  options.repeats = 4;
  EXPECT_LE(find_split(warming, options).split_share, 10);
}

TEST(Search, TakesWorkFromTheBetterDeviceOnlyForAGain) {
  // 1 % better at 40 is not worth it, 4 % is.
  const auto curve = [](double depth) {
    return [depth](double share) {
      const double far = std::fabs(share - 40) / 40;
      return SplitTime{20 * (1 - depth * std::max(1 - far, 0.0)) + (share > 50 ? share : 0), share,
                       20};
    };
  };
  SearchOptions options;
  options.start_share = 40;
  EXPECT_LE(find_split(curve(0.01), options).split_share, 10);
  EXPECT_NEAR(find_split(curve(0.10), options).split_share, 40, 10);
}

TEST(Search, WhatWonByLuckLosesAgainstOneDeviceInTheEnd) {
  // A split costs 13 ms, which only the last runs of the search show.
  constexpr int kLast = 20;
  int runs = 0, lucky_runs = 1 << 30;
  const auto lucky = [&](double share) {
    SplitTime time = machine(10, 12)(share);
    if (share > 0 && share < 100 && ++runs > lucky_runs) time.total_ms = 13;
    return time;
  };
  EXPECT_TRUE(find_split(lucky, {}).use_both);
  lucky_runs = runs - kLast;
  runs = 0;
  const SplitSearch found = find_split(lucky, {});
  EXPECT_FALSE(found.use_both);
  EXPECT_EQ(found.share, 100);
  EXPECT_DOUBLE_EQ(found.time_ms, 10);
}

TEST(Search, AChoiceByLuckLosesAgainstTheFastestSplitInTheEnd) {
  // Leaving the second device nearly all looks as good as halves, until the last runs.
  constexpr int kLast = 20;
  int runs = 0, lucky_runs = 1 << 30;
  const auto lucky = [&](double share) {
    SplitTime time = machine(10, 10)(share);
    if (share > 0 && share < 20 && runs < lucky_runs) time.total_ms = 5.05;
    runs += share > 0 && share < 20;
    return time;
  };
  SearchOptions options;
  options.min_gain = 0.05;
  EXPECT_GT(largest_gain(find_split(lucky, options).split_share), 1.0);
  lucky_runs = runs - kLast;
  runs = 0;
  const SplitSearch found = find_split(lucky, options);
  EXPECT_NEAR(found.split_share, 50, 5);
  EXPECT_NEAR(found.single_ms / found.split_ms, 2, 0.2);
}

TEST(Search, TimesDevicesAloneInTurnsWithTheSplit) {
  std::vector<double> shares;
  const auto watched = [&shares](double share) {
    shares.push_back(share);
    return machine(100, 100)(share);
  };
  const SplitSearch found = find_split(watched, {});
  const auto alone = [](double share) { return share == 0 || share == 100; };
  EXPECT_TRUE(alone(shares[0]) && alone(shares[1]) && shares[0] != shares[1]);
  // The last pairs are the duel.
  for (std::size_t i = shares.size() - 6; i < shares.size(); i += 2)
    EXPECT_NE(alone(shares[i]), alone(shares[i + 1]));
  EXPECT_EQ(found.doubt, GainDoubt::kNone);
}

TEST(Search, AGainThatCannotBeIsMeasuredAgain) {
  // Single runs were slow at first: 3 x is not possible at 50 %.
  int singles = 0;
  const auto disturbed = [&singles](double share) {
    SplitTime time = machine(100, 100)(share);
    if ((share == 0 || share == 100) && ++singles < 20) time.total_ms *= 1.5;
    return time;
  };
  const SplitSearch found = find_split(disturbed, {});
  EXPECT_GT(singles, 20);
  EXPECT_EQ(found.doubt, GainDoubt::kNone);
  EXPECT_NEAR(found.single_ms / found.split_ms, 2, 0.01);
}

TEST(Search, AGainThatStaysIsUnevenWorkOrAnError) {
  const auto impossible = [](double factor) {
    return [factor](double share) {
      SplitTime time = machine(100, 100)(share);
      if (share == 0 || share == 100) time.total_ms *= factor;
      return time;
    };
  };
  SearchOptions options;
  EXPECT_EQ(find_split(impossible(1.08), options).doubt, GainDoubt::kUnevenWork);
  options.halves = true;
  EXPECT_EQ(find_split(impossible(1.08), options).doubt, GainDoubt::kUnevenWork);
  EXPECT_EQ(find_split(impossible(1.2), options).doubt, GainDoubt::kMeasuringError);
}

TEST(Search, SharesAreThoseOfPlans) {
  SearchOptions options;
  options.granularity = 100.0 / 7;
  options.start_share = 41;
  std::map<double, int> seen;
  for (const SplitSample& sample : find_split(machine(100, 70), options).samples) {
    const double groups = sample.share / options.granularity;
    EXPECT_NEAR(groups, std::round(groups), 1e-9) << sample.share;
    EXPECT_EQ(++seen[std::round(groups)], 1) << sample.share;
  }
}

}  // namespace
}  // namespace omen::loadbalance
