// SPDX-License-Identifier: Apache-2.0
// Co-runs of small commands, and those that die, hang or stay silent; no figure depends on the
// clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/corun.hpp"
#include "measure/loops.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "pack/simulation.hpp"

namespace omen::interference {
namespace {

using test::error_of;
using test::IsError;
using ::testing::_;
using ::testing::HasSubstr;

CorunOptions quick(const test::TempDir& directory) {
  CorunOptions options;
  options.window_s = 0.3;
  options.warmup_s = 0;
  options.patience_s = 20;
  options.repeats = 1;
  options.directory = directory.path();
  return options;
}

TEST(Corun, CommandsThatDieHangOrDoNotExistAreNamed) {
  const test::TempDir directory;
  CorunOptions options = quick(directory);
  const auto measure = [&](const CommandLine& command) {
    return error_of([&] { measure_corun({command, command}, options, [](double) {}); });
  };
  EXPECT_THAT(measure({"sh", "-c", "exit 3"}),
              IsError(OMEN_UNAVAILABLE, HasSubstr("ended with code 3"), HasSubstr("window")));
  options.patience_s = 0.2;
  EXPECT_THAT(measure({"sleep", "100"}),
              IsError(OMEN_UNAVAILABLE, HasSubstr("left no mark"), HasSubstr("omen mark step")));
  EXPECT_THAT(measure({"/nowhere/at-all"}), IsError(OMEN_NOT_FOUND, _, _));
}

TEST(Corun, ACommandThatHangsAfterSomeStepsHasNoRate) {
  const test::TempDir directory;
  const CorunOptions options = quick(directory);
  const CommandLine hangs = {"bash", "-c",
                             "for i in 1 2 3 4 5; do read up rest < /proc/uptime; echo "
                             "\"${up%.*}${up#*.}0000000 step\" >> "
                             "\"$OMEN_MARK_FILE\"; sleep 0.02; done; trap '' TERM; sleep 100"};
  EXPECT_THAT(error_of([&] {
                measure_corun({hangs, hangs}, options, [](double) {});
              }),
              IsError(OMEN_UNAVAILABLE, HasSubstr("its window"), _));
}

TEST(Corun, SpeedsHaveAnInterval) {
  const CorunSpeed steady = speed_of({10, 10, 10, 10, 10}, {5, 5.01, 4.99, 5, 5});
  EXPECT_NEAR(steady.median, 0.5, 1e-9);
  EXPECT_TRUE(steady.is_precise);
  EXPECT_LT(steady.low, 0.5);
  EXPECT_GT(steady.high, 0.5);
  EXPECT_FALSE(speed_of({10, 10, 10}, {2, 9, 5}).is_precise);
  EXPECT_FALSE(speed_of({10}, {5}).is_precise);
}

TEST(Loops, RunAndAreNamed) {
  for (const LoadKind& kind : loop_loads()) {
    int marks = 0;
    const std::unique_ptr<Load> load = kind.make(kind.batch, 1);
    const std::int64_t steps = run_load(
        *load, 60, [&] { ++marks; }, [&] { return marks >= 2; });
    EXPECT_EQ(steps, marks);
  }
  EXPECT_STREQ(loop_name(LoopKind::kCache), "cache");
}

TEST(Simulation, PackingHelpsWhereJobsLeaveRoom) {
  std::vector<ArrivingJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back({i / 8 * 8.0, 10, static_cast<std::size_t>(i % 2)});
  rescale_arrivals(jobs, 2, 0.95);
  const SpeedTable good(2, std::vector<double>(2, 0.9)), bad(2, std::vector<double>(2, 0.3));
  const double never = simulate_queue(jobs, 2, good, nullptr, 1.05).mean_completion_s;
  EXPECT_LT(simulate_queue(jobs, 2, good, &good, 1.05).mean_completion_s, never);
  // Who believes that nothing is gained packs nothing.
  EXPECT_DOUBLE_EQ(simulate_queue(jobs, 2, good, &bad, 1.05).mean_completion_s, never);
  // Who is wrong pays for it.
  EXPECT_GT(simulate_queue(jobs, 2, bad, &good, 1.05).mean_completion_s, never);
}

TEST(Simulation, PairsThatCannotRunAreNeverFormed) {
  std::vector<ArrivingJob> jobs = {{0, 10, 0}, {0, 10, 0}};
  const SpeedTable none(1, std::vector<double>(1, 0)), hopes(1, std::vector<double>(1, 1));
  const SimulatedQueue queue = simulate_queue(jobs, 1, none, &hopes, 1.05);
  EXPECT_DOUBLE_EQ(queue.makespan_s, 20);
  EXPECT_DOUBLE_EQ(queue.packed_share, 0);
}

}  // namespace
}  // namespace omen::interference
