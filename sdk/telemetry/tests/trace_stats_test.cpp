// SPDX-License-Identifier: Apache-2.0
// Energy, steps, outcomes, failed runs, and a whole trace at once.
#include "omen/telemetry/trace_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <numbers>
#include <random>

#include "kernel_log.hpp"
#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/recording.hpp"
#include "omen/telemetry/trace_failures.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TraceSeries series_of(std::initializer_list<std::pair<double, double>> points) {
  TraceSeries series;
  for (const auto& [t_s, value] : points) series.add(std::llround(t_s * 1e9), value);
  return series;
}

TEST(Energy, TrapezoidIsExactOnALine) {
  const TraceSeries power = series_of({{0, 100}, {1, 200}, {4, 500}});
  const auto all = integrate(power);
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(all->value, 150 + 3 * 350);
  const auto part = integrate(power, {500'000'000, 2'000'000'000});
  EXPECT_NEAR(part->value, 0.5 * 175 + 1 * 250, 1e-9) << "cut at the edges of the window";
  EXPECT_NEAR(part->seconds, 1.5, 1e-12);
  EXPECT_FALSE(integrate(power, {5'000'000'000, 6'000'000'000}));
  EXPECT_FALSE(integrate(series_of({{0, 1}})));
}

TEST(Energy, CounterIsPreferredAndComparedWithTheSamples) {
  TraceSeries power, counter;
  for (int i = 0; i <= 100; ++i) {
    power.add(i * 100'000'000LL, 200);
    counter.add(i * 100'000'000LL, 5000 + i * 21.0);
  }
  const Energy energy = energy_of("gpu", 0, &power, &counter);
  EXPECT_EQ(energy.method, "counter");
  EXPECT_NEAR(energy.joules, 2100, 1e-6);
  EXPECT_NEAR(energy.mean_w, 210, 1e-6);
  EXPECT_NEAR(*energy.trapezoid_j, 2000, 1e-6);
  EXPECT_NEAR(*energy.disagreement, -1.0 / 21, 1e-9);
  EXPECT_THAT(energy.remark, IsEmpty());
}

TEST(Energy, SaysWhenItIsDoubtful) {
  const TraceSeries power = series_of({{0, 100}, {1, 100}, {2, 100}, {3, 100}});
  const TraceSeries counter = series_of({{0, 0}, {1, 50}, {2, 100}, {3, 150}});
  EXPECT_THAT(energy_of("gpu", 0, &power, &counter).remark, HasSubstr("differ by 100 %"));
  const TraceSeries brief = series_of({{0, 100}, {0.5, 100}});
  EXPECT_THAT(energy_of("gpu", 0, &brief, nullptr).remark, HasSubstr("shorter than a second"));
  const TraceSeries stalled = series_of({{0, 9}, {1, 9}, {2, 9}, {3, 9}, {90, 9}});
  EXPECT_THAT(energy_of("gpu", 0, &stalled, nullptr).remark, HasSubstr("samples are missing"));
  EXPECT_EQ(energy_of("gpu", 0, &stalled, nullptr).method, "trapezoid");
}

TEST(Energy, ACounterThatWasResetAddsNothingBackwards) {
  EXPECT_DOUBLE_EQ(*counted(series_of({{0, 100}, {1, 150}, {2, 10}, {3, 40}})), 80);
}

TEST(Energy, EstimateIsMarkedAsOne) {
  const auto energy = estimated_energy(series_of({{0, 50}, {10, 50}}), 100);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules, 500);
  EXPECT_EQ(energy->method, "estimated");
  EXPECT_FALSE(estimated_energy(series_of({{0, 50}, {10, 50}}), 0));
}

TEST(Steps, MarksDropTheWarmUpAndAreRobust) {
  std::vector<std::int64_t> marks{0};
  for (const double step : {9.0, 4.0, 1.0, 1.1, 0.9, 1.0, 1.0, 7.0, 1.1, 0.9, 1.0, 1.0})
    marks.push_back(marks.back() + std::llround(step * 1e9));
  const auto step = steps_from_marks(marks);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->warm_up_dropped, 2);
  EXPECT_EQ(step->steps, 10);
  EXPECT_NEAR(step->p50_s, 1.0, 1e-9) << "one slow step in the middle does not count";
  EXPECT_LE(step->p10_s, step->p50_s);
  EXPECT_GE(step->p90_s, step->p50_s);
  EXPECT_FALSE(steps_from_marks({0, 1, 2}));
}

TEST(Steps, PeriodOfANoisyTraceWithinTwoPercent) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 8);
  for (const double period : {0.5, 0.77, 2.3}) {
    TraceSeries series;
    for (int i = 0; i < 1500; ++i) {
      const double t = i * 0.1, phase = std::fmod(t, period) / period;
      series.add(std::llround(t * 1e9), (phase < 0.7 ? 90 : 20) + noise(random));
    }
    const auto step = steps_from_period(series);
    ASSERT_TRUE(step) << period;
    EXPECT_NEAR(step->p50_s, period, 0.02 * period);
    EXPECT_GT(step->confidence, 0.4);
  }
}

TEST(Steps, NoPeriodInNoiseOrInAConstant) {
  std::mt19937_64 random(5);
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<double>(random() % 100));
  EXPECT_FALSE(steps_from_period(TraceSeries::of_values(values, 0.1)));
  EXPECT_FALSE(steps_from_period(TraceSeries::of_values(std::vector<double>(500, 99), 0.1)));
}

TEST(Steps, RunsOfDifferentLengthShareALine) {
  const auto line = steps_from_runs({{100, 15}, {200, 25}, {400, 45}, {300, 95}, {0, 3}});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->pooled_s, 180.0 / 1000, 1e-12);
  EXPECT_NEAR(*line->slope_s, 0.1, 1e-9) << "one bad run does not move the median of the slopes";
  EXPECT_NEAR(*line->start_up_s, 5, 1e-9);
  EXPECT_FALSE(steps_from_runs({{10, 1}, {10, 2}})->slope_s);
  EXPECT_FALSE(steps_from_runs({}));
}

RunFacts ended(std::optional<int> code, std::optional<int> signal = std::nullopt) {
  RunFacts facts;
  facts.exit_code = code;
  facts.signal = signal;
  return facts;
}

TEST(Outcome, ExitStatusAlone) {
  EXPECT_EQ(judge_run(ended(0)).outcome, Outcome::kFinished);
  EXPECT_EQ(judge_run(ended(3)).outcome, Outcome::kFailed);
  EXPECT_EQ(judge_run(ended({}, SIGSEGV)).outcome, Outcome::kCrashed);
  EXPECT_EQ(judge_run(ended(134)).outcome, Outcome::kCrashed) << "what a shell makes of SIGABRT";
  EXPECT_EQ(judge_run(ended({}, SIGTERM)).outcome, Outcome::kStopped);
  EXPECT_EQ(judge_run(ended(130)).outcome, Outcome::kStopped);
  EXPECT_EQ(judge_run(ended({}, SIGKILL)).outcome, Outcome::kCrashed);
  EXPECT_EQ(judge_run({}).outcome, Outcome::kUnknown);
  EXPECT_THAT(judge_run(ended({}, SIGSEGV)).reason, HasSubstr("SIGSEGV"));
}

TEST(Outcome, KernelThatNamesTheJobIsCertain) {
  RunFacts facts = ended({}, SIGKILL);
  facts.pid = 4711;
  facts.kernel_messages = {"Out of memory: Killed process 4711 (python) total-vm:1kB"};
  const RunOutcome outcome = judge_run(facts);
  EXPECT_EQ(outcome.outcome, Outcome::kOutOfMemory);
  EXPECT_TRUE(outcome.certain);
  EXPECT_THAT(outcome.evidence, Contains(HasSubstr("4711")));
}

TEST(Outcome, KillOfAnotherProcessIsNotCertain) {
  RunFacts facts = ended(1);
  facts.pid = 471;
  facts.kernel_messages = {"Memory cgroup out of memory: Killed process 4711 (python)"};
  const RunOutcome outcome = judge_run(facts);
  EXPECT_EQ(outcome.outcome, Outcome::kOutOfMemory) << "a child may have been the victim";
  EXPECT_FALSE(outcome.certain) << "471 is not 4711";
}

TEST(Outcome, ControlGroupCountsAndFullMemory) {
  RunFacts facts = ended(137);
  facts.oom_kills = 1;
  EXPECT_TRUE(judge_run(facts).certain);
  EXPECT_EQ(judge_run(facts).outcome, Outcome::kOutOfMemory);
  RunFacts gpu = ended(1);
  gpu.memory = {{"GPU 0", 8.5e9, 8.6e9}};
  EXPECT_EQ(judge_run(gpu).outcome, Outcome::kOutOfMemory);
  EXPECT_FALSE(judge_run(gpu).certain) << "frameworks reserve everything";
  gpu.memory = {{"GPU 0", 4e9, 8.6e9}};
  EXPECT_EQ(judge_run(gpu).outcome, Outcome::kFailed);
  gpu.memory = {{"GPU 0", 8.6e9, 8.6e9}};
  gpu.exit_code = 0;
  EXPECT_EQ(judge_run(gpu).outcome, Outcome::kFinished) << "full memory alone is no failure";
  gpu.exit_code.reset();
  gpu.signal = SIGINT;
  EXPECT_EQ(judge_run(gpu).outcome, Outcome::kStopped);
}

TEST(Outcome, FaultOfADeviceExplainsAFailure) {
  RunFacts facts = ended(1);
  facts.pid = 99;
  facts.kernel_messages = {"NVRM: Xid (PCI:0000:01:00): 31, pid=99, name=python"};
  EXPECT_EQ(judge_run(facts).outcome, Outcome::kCrashed);
  EXPECT_TRUE(judge_run(facts).certain);
}

TEST(Outcome, FaultOfAnotherProcessIsNoCrashOfTheJob) {
  RunFacts facts = ended(3);
  facts.pid = 99;
  facts.kernel_messages = {"python[98]: segfault at 0 ip 0 sp 0 error 6"};
  EXPECT_EQ(judge_run(facts).outcome, Outcome::kFailed);
  EXPECT_EQ(judge_run(facts).evidence.size(), 1);
  facts.kernel_messages = {"python[99]: segfault at 0 ip 0 sp 0 error 6"};
  EXPECT_EQ(judge_run(facts).outcome, Outcome::kCrashed);
}

TEST(Failures, LargerBatchCannotMakeAStepMuchShorter) {
  const std::vector<PerfRun> runs = {{"a", 8, 10, 100}, {"a", 16, 10, 60}, {"a", 32, 10, 40},
                                     {"a", 64, 10, 3},  {"a", 64, 20, 5},  {"a", 128, 10, 3},
                                     {"b", 64, 10, 3},  {"b", 128, 10, 2}, {"c", 8, 10, 0}};
  const auto verdicts = find_failed_runs(runs);
  std::vector<bool> suspects;
  for (const PerfVerdict& verdict : verdicts) suspects.push_back(verdict.suspect);
  EXPECT_THAT(suspects, ElementsAre(false, false, false, true, true, true, false, false, false));
  EXPECT_NEAR(*verdicts[3].throughput_ratio, 40.0 / 3, 1e-9);
  EXPECT_NEAR(verdicts[3].largest_ratio, 3, 1e-9);
  EXPECT_NEAR(verdicts[5].largest_ratio, 6, 1e-9) << "suspects are no reference";
  EXPECT_FALSE(verdicts[6].throughput_ratio) << "the smallest size has no neighbour";
}

TEST(KernelLog, ReadsOnlyWhatIsNewAndTelling) {
  test::TempTree tree;
  tree.write("kmsg", "6,1,10,-;Out of memory: Killed process 1 (old)\n");
  KernelLog log(tree / "kmsg");
  ASSERT_TRUE(log.readable());
  std::ofstream(tree / "kmsg", std::ios::app)
      << "6,2,20,-;usb 1-1: new device\n SUBSYSTEM=usb\n"
      << "3,3,30,-;Out of memory: Killed process 77 (python)\n"
      << "6,4,40,-;python[77]: segfault at 0 ip 0\n";
  EXPECT_THAT(log.read_new(), ElementsAre("Out of memory: Killed process 77 (python)",
                                          "python[77]: segfault at 0 ip 0"));
  EXPECT_THAT(log.read_new(), IsEmpty());
  EXPECT_FALSE(KernelLog(tree / "none").readable());
}

// A recording whose job writes its own obituary into a kernel log.
TEST(TraceStats, LiveRunThatTheKernelKilled) {
  test::TempTree tree;
  tree.write("kmsg", "");
  RecordOptions options;
  options.interval_ns = 20 * kNsPerMs;
  options.nvml = options.amd = Need::kNo;
  options.roots.kernel_log = tree / "kmsg";
  options.directory = tree.root();
  const std::string line = "3,1,1,-;Out of memory: Killed process $$ (sh) total-vm:1kB";
  const Recording recording =
      record(options,
             {{"sh", "-c",
               "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo \"" + line + "\" >> " +
                   (tree / "kmsg").string() + "; kill -9 $$"},
              0,
              std::nullopt,
              1},
             {});
  EXPECT_EQ(recording.job.signal, SIGKILL);
  const TraceStats stats = trace_stats([&] { return std::make_unique<LogReader>(recording.log); });
  ASSERT_EQ(stats.workloads.size(), 1u);
  const WorkloadStats& run = stats.workloads[0];
  EXPECT_EQ(run.outcome.outcome, Outcome::kOutOfMemory);
  EXPECT_TRUE(run.outcome.certain);
  ASSERT_TRUE(run.busy_core_s);
  EXPECT_GT(*run.busy_core_s, 0);
}

TEST(TraceStats, ForeignTraceHasPhasesAndNoOutcome) {
  test::TempTree tree;
  std::string text = "GPU Util%,GPU Memory,CPU Util%\n";
  for (int i = 0; i < 300; ++i) {
    const bool busy = i >= 15 && i < 297;
    text += std::string(busy ? "95" : "1") + "," + (busy ? "7800" : "10") + ",20.5\n";
  }
  tree.write("trace.csv", text);
  const OpenRows open = [&] { return open_trace(tree / "trace.csv", {"auto", 0.2}); };
  const TraceStats stats = trace_stats(open);
  ASSERT_EQ(stats.workloads.size(), 1u);
  const WorkloadStats& run = stats.workloads[0];
  EXPECT_EQ(run.outcome.outcome, Outcome::kUnknown);
  ASSERT_EQ(run.series.size(), 3u);
  for (const SeriesPhases& series : run.series) {
    EXPECT_EQ(series.phases.verdict, IdleVerdict::kNoIdlePhase) << series.metric;
    if (series.metric == "cpu.busy_percent") continue;
    EXPECT_NEAR(series.phases.burst.share, 282.0 / 300, 1e-9) << series.metric;
    EXPECT_NEAR(series.phases.start_up_s, 3, 1e-9);
  }
  const std::string plot = phases_plot_json(open, stats, "t");
  EXPECT_THAT(plot, HasSubstr("gpu.util_percent 0"));
  EXPECT_THAT(plot, HasSubstr("\"rect\""));
}

TEST(TraceStats, GreatestMeanOverThirtySeconds) {
  test::TempTree tree;
  std::string text = "t,gpu.0.gpu\n";
  for (int i = 0; i < 120; ++i)
    text += std::to_string(i) + "," + (i >= 30 && i < 60 ? "80" : i == 100 ? "100" : "10") + "\n";
  tree.write("trace.csv", text);
  const TraceStats stats = trace_stats([&] { return open_trace(tree / "trace.csv"); });
  const SeriesPhases& series = stats.workloads.at(0).series.at(0);
  EXPECT_NEAR(series.max_30s, 80, 1e-9);
  EXPECT_EQ(series.max, 100);
}

TEST(TraceStats, MarksOfOneKindGiveTheStep) {
  test::TempTree tree;
  std::string text = "t,metric,value\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(0.25 * i) + ",mark.epoch-" + std::to_string(i) + ",1\n";
  tree.write("trace.csv", text);
  const TraceStats stats = trace_stats([&] { return open_trace(tree / "trace.csv"); });
  const auto& step = stats.workloads.at(0).step;
  ASSERT_TRUE(step);
  EXPECT_EQ(step->signal, "mark.epoch");
  EXPECT_NEAR(step->p50_s, 0.25, 1e-9);
}

}  // namespace
}  // namespace omen::telemetry
