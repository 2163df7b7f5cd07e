// SPDX-License-Identifier: Apache-2.0
// Searches keep their budget and their limits.
#include "recover/search.hpp"

#include <gtest/gtest.h>

#include "nets/mobile_names.hpp"

namespace omen::power {
namespace {

Objective objective_with(const Limits& limits, Goal goal = Goal::power, double match = 0) {
  std::vector<ArrayNet> nets = {ArrayNet(mobile_net("mobilenet-v1-0.5-96").value())};
  return Objective(nets, {}, named_profile("tetris-65").value(), goal, limits, match);
}

TEST(Search, KeepsItsBudgetAndItsLimits) {
  Limits limits;
  limits.latency_s = 2e-3;
  limits.area_mm2 = 3;
  const Objective objective = objective_with(limits);
  const SearchResult found = search_guided(objective, {100, 1});
  EXPECT_LE(objective.calls, 100);
  ASSERT_TRUE(found.best.feasible());
  EXPECT_LE(found.best.latency_s, 2e-3);
  EXPECT_LE(found.best.area_mm2, 3);
  EXPECT_TRUE(illegal_because(objective.hardware(found.best.design)).empty());
  const SearchResult again = search_guided(objective_with(limits), {100, 1});
  EXPECT_EQ(found.best.design, again.best.design);
}

TEST(Search, SaysWhichLimitCannotBeMet) {
  Limits limits;
  limits.latency_s = 1e-9;
  const SearchResult found = search_guided(objective_with(limits), {60, 1});
  EXPECT_FALSE(found.best.feasible());
  EXPECT_EQ(found.best.broken, "latency");
}

TEST(Search, MatchesAPower) {
  const SearchResult found = search_guided(objective_with({}, Goal::match, 0.5), {150, 1});
  EXPECT_NEAR(found.best.power_w, 0.5, 0.02);
}

TEST(Search, HeldParametersStay) {
  Objective objective = objective_with({});
  objective.hold("node_nm");
  objective.hold("dram");
  for (const Judged& one : search_local(objective, {50, 2}).tried) {
    EXPECT_EQ(objective.hardware(one.design).node_nm, 16);
    EXPECT_EQ(objective.hardware(one.design).dram, Dram::lpddr4);
  }
}

TEST(Front, KeepsWhatNothingBeats) {
  const auto design = [](double latency, double power) {
    Judged one;
    one.legal = true;
    one.latency_s = latency;
    one.power_w = power;
    return one;
  };
  const auto front = pareto_front({design(1, 10), design(2, 2), design(3, 5), design(4, 1)});
  ASSERT_EQ(front.size(), 3u);
  EXPECT_EQ(knee_of(front), 1u);
}

}  // namespace
}  // namespace omen::power
