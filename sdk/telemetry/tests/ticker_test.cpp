// SPDX-License-Identifier: Apache-2.0
// The cadence: absolute deadlines, missed ticks, lateness, stopping, and the cost of a sampler.
#include "omen/telemetry/ticker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "omen/telemetry/sampler.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

constexpr std::int64_t kInterval = 100 * kNsPerMs;

TEST(Ticker, KeepsTheGridUnderLateness) {
  SimulatedClock clock(3 * kNsPerMs);
  const std::atomic<bool> stop{false};
  Ticker ticker(clock, kInterval, stop);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(ticker.next());
  // 49 intervals and one lateness: relative sleeps would have drifted by 49 latenesses.
  EXPECT_EQ(clock.now_ns(), 49 * kInterval + 3 * kNsPerMs);
  EXPECT_EQ(ticker.missed(), 0);
  EXPECT_NEAR(ticker.lateness_ns().quantile(0.99), 3.0 * kNsPerMs, 0.03 * 3 * kNsPerMs);
}

TEST(Ticker, CountsTicksThatNoLongerFit) {
  SimulatedClock clock;
  const std::atomic<bool> stop{false};
  Ticker ticker(clock, kInterval, stop);
  ASSERT_TRUE(ticker.next());
  clock.advance(350 * kNsPerMs);  // the deadlines at 100 and 200 ms pass, 300 ms comes late
  ASSERT_TRUE(ticker.next());
  EXPECT_EQ(ticker.missed(), 2);
  EXPECT_EQ(clock.now_ns(), 350 * kNsPerMs);
  ASSERT_TRUE(ticker.next());
  EXPECT_EQ(clock.now_ns(), 400 * kNsPerMs);
  EXPECT_EQ(ticker.ticks(), 3);
}

TEST(Ticker, StopsWithinATenthOfASecond) {
  const std::atomic<bool> stop{true};
  Ticker ticker(machine_clock(), 3600 * kNsPerSecond, stop);
  EXPECT_FALSE(ticker.next());
  EXPECT_EQ(ticker.ticks(), 0);
}

TEST(LogHistogram, QuantilesAreWithinTwoPercent) {
  LogHistogram histogram;
  std::vector<double> values;
  std::mt19937 random(7);
  std::lognormal_distribution<double> draw(10, 2);
  for (int i = 0; i < 20000; ++i) histogram.add(values.emplace_back(draw(random)));
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99}) {
    const double exact = values[static_cast<std::size_t>(std::ceil(q * 20000)) - 1];
    EXPECT_NEAR(histogram.quantile(q) / exact, 1, 0.023) << q;
  }
  EXPECT_EQ(histogram.quantile(1), values.back());
}

TEST(LogHistogram, ZerosAndNothing) {
  LogHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.add(0);
  histogram.add(0);
  histogram.add(4);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_NEAR(histogram.quantile(0.99), 4, 0.1);
}

class Counting final : public Source {
 public:
  explicit Counting(std::int32_t metric) : metric_(metric) {}
  std::string_view name() const override { return "counting"; }
  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    rows.push_back({t_ns, static_cast<double>(++calls_), metric_, -1, 0});
  }

 private:
  std::int32_t metric_;
  int calls_ = 0;
};

class Failing final : public Source {
 public:
  std::string_view name() const override { return "failing"; }
  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    rows.push_back({t_ns, 1, 0, -1, 0});
    throw Error(OMEN_IO, "the bus is gone");
  }
};

TEST(Sampler, DeliversEveryTickAndReportsItsCost) {
  test::Bench bench;
  auto sampler = std::make_shared<Sampler>("host", machine_clock(), 10 * kNsPerMs, bench.notes);
  sampler->add(std::make_unique<Counting>(bench.metrics.id("count")));
  std::vector<Sample> got;
  SamplerThread thread(
      sampler, machine_clock().now_ns(),
      [&](const std::vector<Sample>& rows) { got.insert(got.end(), rows.begin(), rows.end()); },
      nullptr);
  machine_clock().sleep_until(machine_clock().now_ns() + 300 * kNsPerMs);
  ASSERT_TRUE(thread.stop(kNsPerSecond));
  const SamplerReport report = thread.report();
  EXPECT_EQ(static_cast<std::int64_t>(got.size()), report.ticks + 1);  // and one after the stop
  EXPECT_GE(report.ticks + report.missed, 28);
  EXPECT_LE(report.ticks + report.missed, 45);
  EXPECT_GT(report.cpu_s, 0);
  EXPECT_GT(report.wall_s, 0.25);
  EXPECT_LE(report.lateness_p50_ms, report.lateness_p99_ms);
  for (std::size_t i = 1; i < got.size(); ++i) EXPECT_GT(got[i].t_ns, got[i - 1].t_ns);
}

TEST(Sampler, SourceThatThrowsIsGivenUpAndTheOthersGoOn) {
  test::Bench bench;
  SimulatedClock clock;
  Sampler sampler("host", clock, kInterval, bench.notes);
  sampler.add(std::make_unique<Failing>());
  sampler.add(std::make_unique<Counting>(bench.metrics.id("count")));
  std::atomic<bool> stop{false};
  std::vector<Sample> got;
  sampler.run(stop, 0, [&](const std::vector<Sample>& rows) {
    got.insert(got.end(), rows.begin(), rows.end());
    if (got.size() == 30) stop = true;
  });
  EXPECT_EQ(got.size(), 31u);  // no half-made row of the source that threw
  EXPECT_TRUE(bench.has_note("the bus is gone"));
  EXPECT_TRUE(bench.has_note("given up"));
  EXPECT_EQ(bench.notes.list()[0].count, 10);
}

class Sleeping final : public Source {
 public:
  explicit Sleeping(std::int64_t ns) : ns_(ns) {}
  std::string_view name() const override { return "sleeping"; }
  void sample(std::int64_t, std::vector<Sample>&) override {
    machine_clock().sleep_until(machine_clock().now_ns() + ns_);
  }

 private:
  std::int64_t ns_;
};

TEST(Sampler, SlowSourceMissesTicksAndIsNamed) {
  test::Bench bench;
  auto sampler = std::make_shared<Sampler>("gpu", machine_clock(), 10 * kNsPerMs, bench.notes);
  sampler->add(std::make_unique<Sleeping>(45 * kNsPerMs));
  SamplerThread thread(
      sampler, machine_clock().now_ns(), [](const auto&) {}, nullptr);
  machine_clock().sleep_until(machine_clock().now_ns() + 300 * kNsPerMs);
  ASSERT_TRUE(thread.stop(kNsPerSecond));
  EXPECT_GT(thread.report().missed, 10);
  EXPECT_EQ(thread.report().slowest_source, "sleeping");
  EXPECT_TRUE(bench.has_note("ticks were missed; the slowest reading was sleeping"));
}

TEST(Sampler, HangingSourceIsLeftBehind) {
  auto bench = std::make_shared<test::Bench>();
  auto sampler = std::make_shared<Sampler>("gpu", machine_clock(), 10 * kNsPerMs, bench->notes);
  sampler->add(std::make_unique<Sleeping>(400 * kNsPerMs));
  std::weak_ptr<test::Bench> watch = bench;
  {
    SamplerThread thread(
        std::move(sampler), machine_clock().now_ns(), [](const auto&) {}, std::move(bench));
    EXPECT_FALSE(thread.stop(50 * kNsPerMs));
  }
  // The thread ends by itself once the driver answers, and takes what it kept alive with it.
  for (int i = 0; i < 300 && !watch.expired(); ++i)
    machine_clock().sleep_until(machine_clock().now_ns() + 10 * kNsPerMs);
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace omen::telemetry
