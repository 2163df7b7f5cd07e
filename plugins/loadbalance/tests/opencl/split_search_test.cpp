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

}  // namespace
}  // namespace omen::loadbalance
