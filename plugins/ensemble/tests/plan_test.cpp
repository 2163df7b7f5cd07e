// SPDX-License-Identifier: Apache-2.0
// Curves, groups, flotillas, placement and schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "plan/groups.hpp"
#include "plan/list_schedule.hpp"
#include "plan/wrong_epochs.hpp"

namespace omen::ensemble {
namespace {

TEST(RateCurve, GoesOnGeometricallyAndNeverFalls) {
  const RateCurve curve({100, 190, 270});
  EXPECT_EQ(curve.at(3), 270);
  const double decay = 90.0 / 95;
  EXPECT_NEAR(curve.at(5), 5 * 90 * decay * decay, 1e-9);
  for (std::int64_t m = 1; m < 100; ++m) EXPECT_GE(curve.at(m + 1), curve.at(m)) << m;
  EXPECT_EQ(curve.at(curve.useful()), curve.at(1000));
  EXPECT_LT(curve.at(curve.useful() - 1), curve.at(curve.useful()));
}

TEST(RateCurve, NoiseDoesNotMakeItFall) {
  const RateCurve curve({100, 90, 150});
  EXPECT_EQ(curve.at(2), 100);
  EXPECT_EQ(curve.fewest_for(100), 1);
  EXPECT_EQ(curve.fewest_for(101), 3);
}

TEST(RateCurve, OneRateIsOneAccelerator) {
  const RateCurve curve({100});
  EXPECT_EQ(curve.useful(), 1);
  EXPECT_EQ(curve.at(8), 100);
  EXPECT_EQ(curve.fewest_for(101), 2) << "beyond what is useful: not reachable";
}

TEST(RateCurve, ACapEndsIt) {
  const RateCurve curve = RateCurve({100, 200, 300}).capped(150);
  EXPECT_EQ(curve.useful(), 2);
  EXPECT_EQ(curve.at(3), 150);
}

TEST(Groups, AreTheBestOfAllPartitions) {
  const std::vector<double> rates = {10, 11, 30, 33, 34, 90};
  for (std::size_t most = 1; most <= 4; ++most) {
    double least = 1e300;
    // Every set of cuts between neighbours with at most `most` groups.
    for (unsigned cuts = 0; cuts < 32; ++cuts) {
      std::vector<RateGroup> groups = {{0, 0}};
      for (std::size_t i = 0; i < rates.size(); ++i) {
        groups.back().end = i + 1;
        if (i + 1 < rates.size() && (cuts >> i & 1)) groups.push_back({i + 1, i + 1});
      }
      if (groups.size() <= most) least = std::min(least, waiting(rates, groups));
    }
    EXPECT_NEAR(waiting(rates, sharing_groups(rates, most)), least, 1e-12) << most;
  }
}

TEST(Groups, EqualRatesStayTogether) {
  EXPECT_EQ(sharing_groups({5, 5, 5}, 3).size(), 1u);
  EXPECT_TRUE(sharing_groups({}, 3).empty());
}

PlannedModel linear(double rate, double work, int most = 8) {
  std::vector<double> rates;
  for (int m = 1; m <= most; ++m) rates.push_back(rate * m);
  return {RateCurve(rates), work};
}

TEST(Flotilla, MembersComeNearTheFastest) {
  const std::vector<PlannedModel> models = {linear(25, 1), linear(100, 1), linear(50, 1)};
  const auto members = make_flotilla(models, {0, 1, 2}, 7, {5, 0});
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].model, 1u);
  EXPECT_EQ(members[0].accelerators, 1);
  EXPECT_EQ(members[1].model, 2u) << "the fewer accelerators before the more";
  EXPECT_EQ(members[1].accelerators, 2);
  EXPECT_EQ(members[2].accelerators, 4);
}

TEST(Flotilla, WhatIsFarAwayWaits) {
  const std::vector<PlannedModel> models = {linear(100, 1), {RateCurve({10}), 1}};
  const auto members = make_flotilla(models, {0, 1}, 4, {20, 0});
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].accelerators, 4) << "what is left goes to the slowest member";
}

TEST(Placement, WholeNodesThenPairsThenTheRest) {
  const auto placed = place({{0, 3}, {1, 4}, {2, 1}, {3, 2}, {4, 2}}, 4);
  EXPECT_DOUBLE_EQ(spread(placed, 4), 1.0 / 3 + 1.0 / 4 + 1 + 0.5 + 0.5)
      << "nobody spans two nodes";
}

TEST(Placement, TheRestIsPermuted) {
  // By size, 3 6 7, the middle one would span two nodes; it is better that the largest does.
  const auto placed = place({{0, 6}, {1, 3}, {2, 7}}, 8);
  EXPECT_DOUBLE_EQ(spread(placed, 8), 1.0 / 3 + 2.0 / 7 + 1.0 / 6);
}

std::vector<PlannedModel> mixed() {
  return {linear(100, 5000), linear(90, 9000), linear(40, 4000), linear(10, 1000),
          linear(12, 3000)};
}

double total(Planner planner, const StopCosts& costs) {
  return simulate(planner, mixed(), true_work(mixed()), {4, 2}, costs, {}).total_s;
}

TEST(Schedule, NoPlannerBeatsTheBoundOrLosesWork) {
  for (const Planner planner : all_planners()) {
    const Schedule made = simulate(planner, mixed(), true_work(mixed()), {4, 2}, {}, {});
    EXPECT_GE(made.total_s, lower_bound(mixed(), {4, 2}) * (1 - 1e-9)) << planner_name(planner);
    std::vector<double> done(mixed().size(), 0.0);
    for (const Span& span : made.spans)
      done[span.model] += (span.end - span.begin) * mixed()[span.model].curve.at(span.accelerators);
    for (std::size_t i = 0; i < done.size(); ++i)
      EXPECT_NEAR(done[i], mixed()[i].work, 1e-3) << planner_name(planner) << " " << i;
  }
}

TEST(Schedule, NeverMoreAcceleratorsThanThereAre) {
  for (const Planner planner : all_planners()) {
    const Schedule made = simulate(planner, mixed(), true_work(mixed()), {4, 2}, {}, {});
    for (const Span& at : made.spans) {
      std::int64_t busy = 0;
      const double middle = (at.begin + at.end) / 2;
      for (const Span& span : made.spans)
        if (span.begin < middle && middle < span.end) busy += span.accelerators;
      EXPECT_LE(busy, 4) << planner_name(planner);
    }
  }
}

TEST(Schedule, StopsCostFlotillasOnly) {
  EXPECT_GT(total(Planner::kFleetGlobal, {10, 5}), total(Planner::kFleetGlobal, {}));
  EXPECT_EQ(total(Planner::kMoldable, {10, 5}), total(Planner::kMoldable, {}));
  const Schedule made =
      simulate(Planner::kFleetGlobal, mixed(), true_work(mixed()), {4, 2}, {10, 5}, {});
  EXPECT_NEAR(made.total_s - total(Planner::kFleetGlobal, {}), 15.0 * made.rounds, 1e-6);
}

TEST(Schedule, AlphaDecidesWhenARoundStops) {
  PlanRules patient;
  patient.alpha = 0;
  const auto rounds = [&](const PlanRules& rules) {
    return simulate(Planner::kFleetGlobal, mixed(), true_work(mixed()), {4, 2}, {}, rules).rounds;
  };
  EXPECT_LE(rounds(patient), rounds({}));
}

TEST(Schedule, MoldableIsNeverWorseThanOneAcceleratorEachHere) {
  EXPECT_LE(total(Planner::kMoldable, {}), total(Planner::kLongestFirst, {}));
  EXPECT_LE(total(Planner::kLongestFirst, {}), total(Planner::kHomogeneous, {}));
}

TEST(Schedule, OnlyClairvoyantPlannersListenToEpochs) {
  const std::vector<double> wrong = {1, 1e6, 1, 1, 1};
  for (const Planner planner : all_planners()) {
    const double told = simulate(planner, mixed(), wrong, {4, 2}, {}, {}).total_s;
    if (!is_clairvoyant(planner)) {
      EXPECT_EQ(told, total(planner, {})) << planner_name(planner);
    }
  }
  EXPECT_GT(simulate(Planner::kMoldable, mixed(), wrong, {4, 2}, {}, {}).total_s,
            total(Planner::kMoldable, {}));
}

TEST(Schedule, NamesReadBack) {
  for (const Planner planner : all_planners())
    EXPECT_EQ(parse_planner(planner_name(planner)), planner);
  EXPECT_FALSE(parse_planner("best"));
}

TEST(WrongEpochs, NoErrorIsTheTruth) {
  const WrongEpochs none = simulate_wrong_epochs(Planner::kMoldable, mixed(), {4, 2}, {}, 0, 4);
  EXPECT_DOUBLE_EQ(none.mean_s, total(Planner::kMoldable, {}));
  EXPECT_EQ(none.longest_s, total(Planner::kMoldable, {}));
}

}  // namespace
}  // namespace omen::ensemble
