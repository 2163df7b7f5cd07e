// SPDX-License-Identifier: Apache-2.0
// Phases: levels, thresholds and edges of made-up traces whose answer is known.
#include "omen/telemetry/trace_phases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace omen::telemetry {
namespace {

using ::testing::DoubleNear;

std::vector<double> levels(std::initializer_list<std::pair<int, double>> parts) {
  std::vector<double> values;
  for (const auto& [count, level] : parts) values.insert(values.end(), count, level);
  return values;
}

Phases phases_of(const std::vector<double>& values, double period_s = 0.2) {
  return find_phases(TraceSeries::of_values(values, period_s), {});
}

// The least sum of squares over every way to cut the sorted values.
double brute_force(std::vector<double> values, TwoClusters* best) {
  std::sort(values.begin(), values.end());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < values.size(); ++k) {
    double mean[2] = {0, 0}, sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) mean[i >= k] += values[i];
    mean[0] /= static_cast<double>(k);
    mean[1] /= static_cast<double>(values.size() - k);
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += (values[i] - mean[i >= k]) * (values[i] - mean[i >= k]);
    if (sum >= least - 1e-9) continue;
    least = sum;
    *best = {mean[0], mean[1], values[k - 1], values[k], 0};
  }
  return least;
}

TEST(TwoClusters, IsTheBestOfAllCuts) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values;
    const int count = 2 + static_cast<int>(random() % 30);
    for (int i = 0; i < count; ++i) values.push_back(static_cast<double>(random() % 40));
    const auto found = two_clusters(values);
    TwoClusters best;
    brute_force(values, &best);
    if (!found) {
      EXPECT_EQ(std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()),
                values.end());
      continue;
    }
    EXPECT_NEAR(found->low_mean, best.low_mean, 1e-9);
    EXPECT_NEAR(found->high_mean, best.high_mean, 1e-9);
    EXPECT_EQ(found->high_min, best.high_min);
  }
}

TEST(TwoClusters, KeepsItsDigitsOnBytes) {
  const double offset = 8e9;
  const auto found = two_clusters({offset, offset + 1, offset + 10, offset + 11});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->low_mean, offset + 0.5);
  EXPECT_DOUBLE_EQ(found->high_mean, offset + 10.5);
  EXPECT_EQ(found->high_share, 0.5);
}

TEST(TwoClusters, NeedsTwoDifferentValues) {
  EXPECT_FALSE(two_clusters({}));
  EXPECT_FALSE(two_clusters({4}));
  EXPECT_FALSE(two_clusters({4, 4, 4}));
}

TEST(LegacyPhases, CountsSamplesRunsAndPeaks) {
  const LegacyPhases legacy = legacy_phases(levels({{2, 1}, {3, 90}, {1, 2}, {4, 95}}), 92);
  EXPECT_DOUBLE_EQ(legacy.burst_share, 0.7);
  EXPECT_DOUBLE_EQ(legacy.idle_share, 0.3);
  EXPECT_DOUBLE_EQ(legacy.mean_burst_run, 3.5);
  EXPECT_DOUBLE_EQ(legacy.mean_idle_run, 1.5);
  EXPECT_DOUBLE_EQ(legacy.peak_share, 0.4);
}

TEST(LegacyPhases, ConstantIsAllBurst) {
  const LegacyPhases legacy = legacy_phases(levels({{5, 30}}), 90);
  EXPECT_FALSE(legacy.clusters);
  EXPECT_EQ(legacy.burst_share, 1);
  EXPECT_EQ(legacy.mean_idle_run, 0);
}

TEST(Phases, TwoLevelsWithIdleBetweenBursts) {
  const Phases p = phases_of(levels({{10, 2}, {30, 90}, {10, 1}, {40, 95}, {10, 0}}));
  EXPECT_EQ(p.verdict, IdleVerdict::kIdlePhases);
  ASSERT_EQ(p.phases.size(), 5u);
  EXPECT_EQ(p.phases[0].kind, PhaseKind::kStartUp);
  EXPECT_EQ(p.phases[2].kind, PhaseKind::kIdle);
  EXPECT_EQ(p.phases[4].kind, PhaseKind::kTearDown);
  EXPECT_NEAR(p.start_up_s, 2, 1e-9);
  EXPECT_NEAR(p.tear_down_s, 2, 1e-9);
  EXPECT_NEAR(p.burst.share, 0.7, 1e-9);
  EXPECT_EQ(p.burst.count, 2);
  EXPECT_NEAR(p.burst.mean_s, 7, 1e-9);
  EXPECT_NEAR(p.burst.longest_s, 8, 1e-9);
  EXPECT_NEAR(p.burst.level, (30 * 90 + 40 * 95) / 70.0, 1e-9);
  EXPECT_NEAR(p.idle.level, 1, 1e-9);
  EXPECT_EQ(p.peak.count, 1) << "90 is not above 90 %";
  EXPECT_NEAR(p.peak.seconds, 8, 1e-9);
}

TEST(Phases, ConstantHasNoIdlePhase) {
  for (const double level : {5.0, 37.0, 100.0}) {
    const Phases p = phases_of(levels({{100, level}}));
    EXPECT_EQ(p.verdict, IdleVerdict::kNoIdlePhase) << level;
    EXPECT_NEAR(p.burst.share, 1, 1e-12);
    EXPECT_EQ(p.idle.count, 0);
  }
}

TEST(Phases, NothingAtAllIsIdleThroughout) {
  const Phases p = phases_of(levels({{50, 0}, {50, 1}}));
  EXPECT_EQ(p.verdict, IdleVerdict::kIdleThroughout);
  EXPECT_NEAR(p.idle.share, 1, 1e-12);
  EXPECT_EQ(p.burst.count, 0);
}

TEST(Phases, AFewSmallValuesAreNoBurst) {
  const Phases p = phases_of(levels({{90, 0}, {3, 10}, {90, 0}, {2, 12}, {20, 0}}));
  EXPECT_EQ(p.verdict, IdleVerdict::kIdleThroughout);
  EXPECT_NEAR(p.idle.share, 1, 1e-12);
}

TEST(Phases, PlateauNoiseIsNotCut) {
  std::mt19937_64 random(3);
  std::vector<double> values = levels({{20, 3}});
  for (int i = 0; i < 2000; ++i) values.push_back(25 + static_cast<double>(random() % 17));
  const std::vector<double> end = levels({{5, 0}});
  values.insert(values.end(), end.begin(), end.end());
  const Phases p = phases_of(values);
  EXPECT_EQ(p.verdict, IdleVerdict::kNoIdlePhase);
  EXPECT_THAT(p.burst.share, DoubleNear(2000.0 / 2025, 1e-9));
  EXPECT_NEAR(p.edge_share, 25.0 / 2025, 1e-9);
  EXPECT_LT(legacy_phases(values, 90).burst_share, 0.7) << "two clusters do cut it";
}

TEST(Phases, HysteresisKeepsALevelBetweenTheThresholds) {
  // 50 lies between the thresholds of two levels at 0 and 100: it stays what it was.
  const Phases p =
      phases_of(levels({{20, 0}, {20, 100}, {5, 50}, {20, 100}, {5, 0}, {5, 50}, {5, 0}}));
  ASSERT_EQ(p.phases.size(), 3u);
  EXPECT_EQ(p.phases[1].points, 45u);
  EXPECT_EQ(p.phases[2].kind, PhaseKind::kTearDown);
}

TEST(Phases, SingleSamplesAreNoPhases) {
  const Phases p = phases_of(levels({{10, 0}, {30, 90}, {1, 0}, {30, 90}, {5, 0}, {1, 90}}));
  ASSERT_EQ(p.phases.size(), 3u);
  EXPECT_EQ(p.verdict, IdleVerdict::kNoIdlePhase);
  EXPECT_NEAR(p.tear_down_s, 1.2, 1e-9) << "a last blip belongs to the tear-down";
}

TEST(Phases, StalledSamplerLeavesAGapNotABurst) {
  TraceSeries series;
  for (int i = 0; i < 50; ++i) series.add(i * 100'000'000LL, 80);
  for (int i = 0; i < 50; ++i) series.add((600 + i) * 100'000'000LL, 80);
  const Phases p = find_phases(series, {});
  EXPECT_NEAR(p.gap_s, 55.1 - 0.5, 1e-6);
  EXPECT_NEAR(p.covered_s, 10.4, 1e-6);
}

TEST(Phases, PowerIsMeasuredFromItsFloor) {
  const TraceSeries series = TraceSeries::of_values(levels({{20, 60}, {60, 280}, {20, 62}}), 0.1);
  const Phases p = find_phases(series, phase_options_of("gpu.power_w", series));
  EXPECT_NEAR(p.burst.share, 0.6, 1e-9);
  const TraceSeries steady = TraceSeries::of_values(levels({{50, 249}, {50, 251}}), 0.1);
  EXPECT_EQ(find_phases(steady, phase_options_of("gpu.power_w", steady)).verdict,
            IdleVerdict::kNoIdlePhase);
}

TEST(Phases, NoDataForFewerThanTwoPoints) {
  EXPECT_EQ(phases_of({}).verdict, IdleVerdict::kNoData);
  EXPECT_EQ(phases_of({50}).verdict, IdleVerdict::kNoData);
  EXPECT_STREQ(verdict_text(IdleVerdict::kNoData), "no data");
}

TEST(TraceSeries, HalvesItsResolutionWhenItIsFull) {
  TraceSeries series(8);
  for (int i = 0; i < 100; ++i) series.add(i * 1'000'000'000LL, i);
  EXPECT_LT(series.points().size(), 8u);
  EXPECT_EQ(series.rows(), 100);
  EXPECT_EQ(series.rows_per_point(), 16);
  EXPECT_DOUBLE_EQ(series.points()[0].value, 7.5);
  EXPECT_NEAR(series.period_s(), 16, 1e-9);
}

TEST(TraceSeries, LeavesOutRowsThatGoBackInTimeOrAreNoNumbers) {
  TraceSeries series;
  series.add(10, 1);
  series.add(5, 2);
  series.add(20, std::numeric_limits<double>::quiet_NaN());
  series.add(30, 3);
  EXPECT_EQ(series.points().size(), 2u);
  EXPECT_EQ(series.dropped(), 2);
}

}  // namespace
}  // namespace omen::telemetry
