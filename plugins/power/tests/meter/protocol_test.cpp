// SPDX-License-Identifier: Apache-2.0
// Runs whose energy is known, and traces that misbehave: each is rejected for its reason.
#include "meter/protocol.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <omen/telemetry/imports.hpp>
#include <omen/telemetry/sources.hpp>

#include "omen/testing/temp_dir.hpp"

namespace omen::power {
namespace {

using telemetry::TraceSeries;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kIdle_s = 5, kJob_s = 10, kAll_s = 2 * kIdle_s + kJob_s, kTick_s = 0.1;
constexpr double kIdle_w = 20, kBusy_w = 120;

using Watts = std::function<double(double seconds)>;
double usual(double s) {
  return s >= kIdle_s && s < kIdle_s + kJob_s ? kBusy_w : kIdle_w;
}

// A sensor that is read ten times a second; not a number leaves a reading out.
PowerTrace trace_of(const Watts& watts, const std::string& kind = "meter") {
  PowerTrace trace;
  trace.sources.push_back({kind, 0, {}, TraceSeries(), TraceSeries()});
  for (int i = 0; i * kTick_s <= kAll_s; ++i)
    if (const double value = watts(i * kTick_s); !std::isnan(value))
      trace.sources[0].watts.add(static_cast<std::int64_t>(i * kTick_s * 1e9), value);
  trace.job = telemetry::Window{static_cast<std::int64_t>(kIdle_s * 1e9),
                                static_cast<std::int64_t>((kIdle_s + kJob_s) * 1e9)};
  return trace;
}
// A counter of joules beside it, as drivers keep one.
void add_counter(PowerTrace& trace, const Watts& watts, double reset_s = 1e9) {
  double joules = 0;
  for (int i = 0; i * kTick_s <= kAll_s; ++i) {
    if (std::abs(i * kTick_s - reset_s) < kTick_s / 2) joules = 0;
    trace.sources[0].joules.add(static_cast<std::int64_t>(i * kTick_s * 1e9), joules);
    joules += watts(i * kTick_s) * kTick_s;
  }
}
std::string rejection(const Watts& watts) {
  return judge_run(trace_of(watts), {}).rejected;
}

TEST(Protocol, MeasuresARunOfKnownEnergy) {
  Protocol protocol;
  protocol.inferences = 50;
  const MeasuredRun run = judge_run(trace_of(usual), protocol);
  EXPECT_THAT(run.rejected, IsEmpty());
  EXPECT_NEAR(run.power_w, kBusy_w, 1e-6);
  EXPECT_NEAR(run.idle_w(), kIdle_w, 1);
  EXPECT_NEAR(run.energy_j, kBusy_w * kJob_s / 50, 0.02 * kBusy_w * kJob_s / 50);
  EXPECT_NEAR(run.net_j, (kBusy_w - kIdle_w) * kJob_s / 50, 0.03 * kBusy_w * kJob_s / 50);
  EXPECT_NEAR(run.latency_s, kJob_s / 50, 1e-9);
  EXPECT_EQ(run.method, "trapezoid");
}

TEST(Protocol, CountersAreTakenBeforeSamples) {
  PowerTrace trace = trace_of(usual);
  add_counter(trace, usual);
  const MeasuredRun run = judge_run(trace, {});
  EXPECT_THAT(run.rejected, IsEmpty());
  EXPECT_EQ(run.method, "counter");
  EXPECT_NEAR(run.energy_j, kBusy_w * kJob_s, 0.01 * kBusy_w * kJob_s);
}

TEST(Protocol, MarksTellStepsApartAndLeaveTheLoadingOut) {
  // Three seconds of loading at another power, then steps of half a second.
  PowerTrace trace = trace_of([](double s) { return s > 5 && s < 8 ? 60 : usual(s); });
  for (int i = 0; i <= 12; ++i)
    trace.marks.emplace_back(static_cast<std::int64_t>((8.5 + 0.5 * i) * 1e9),
                             "step-" + std::to_string(i));
  const MeasuredRun run = judge_run(trace, {});
  EXPECT_THAT(run.rejected, IsEmpty());
  EXPECT_NEAR(run.latency_s, 0.5, 1e-9);
  EXPECT_NEAR(run.energy_j, 0.5 * kBusy_w, 0.01 * kBusy_w);
  EXPECT_NEAR(run.power_w, kBusy_w, 0.01 * kBusy_w);
}

TEST(Protocol, RejectsWhatCannotBeTrusted) {
  EXPECT_THAT(rejection([](double s) { return usual(s) + (s > 15 ? 25 : 0); }),
              HasSubstr("idle drifts from"));
  EXPECT_THAT(rejection([](double s) { return s > 9 && s < 12 ? std::nan("") : usual(s); }),
              HasSubstr("samples are missing"));
  EXPECT_THAT(rejection([](double) { return 0; }), HasSubstr("reads 0 W"));
  EXPECT_THAT(rejection([](double s) { return usual(s) * (1 + 0.5 * std::sin(3 * s)); }),
              HasSubstr("no steady window"));
  EXPECT_THAT(rejection([](double s) { return s < kIdle_s ? std::nan("") : usual(s); }),
              HasSubstr("idle before"));
  EXPECT_THAT(rejection([](double s) { return s > 15.2 ? std::nan("") : usual(s); }),
              HasSubstr("idle behind"));
  EXPECT_EQ(judge_run({}, {}).rejected, "nothing measured power");
}

TEST(Protocol, RejectsThrottledFailedAndShortRuns) {
  PowerTrace hot = trace_of(usual);
  hot.throttled_ns = {12'000'000'000};
  EXPECT_THAT(judge_run(hot, {}).rejected, HasSubstr("throttled after 7.0 s"));
  hot.throttled_ns = {1'000'000'000};  // before the job
  EXPECT_THAT(judge_run(hot, {}).rejected, IsEmpty());
  PowerTrace failed = trace_of(usual);
  failed.exit_code = 3;
  EXPECT_EQ(judge_run(failed, {}).rejected, "the command ended with 3");
  PowerTrace brief = trace_of(usual);
  brief.job->end_ns = brief.job->begin_ns + 500'000'000;
  EXPECT_THAT(judge_run(brief, {}).rejected, HasSubstr("lasts 0.50 s"));
}

TEST(Protocol, CountersThatDisagreeOrRunBackwardsAreNoMeasurement) {
  PowerTrace trace = trace_of(usual);
  add_counter(trace, [](double s) { return 0.7 * usual(s); });
  EXPECT_THAT(judge_run(trace, {}).rejected, HasSubstr("samples and counter differ"));
  PowerTrace reset = trace_of(usual);
  add_counter(reset, usual, 10);
  EXPECT_THAT(judge_run(reset, {}).rejected, HasSubstr("reset"));
}

// The counter of this package starts again at 0 in the middle of the job.
TEST(Protocol, CountersThatWrapAreMeasuredThrough) {
  test::TempDir tree;
  const std::string zone = "sys/class/powercap/intel-rapl:0/";
  constexpr double kRange_j = 1000;
  tree.write(zone + "name", "package-0\n");
  tree.write(zone + "max_energy_range_uj", std::to_string(std::int64_t(kRange_j * 1e6)) + "\n");
  tree.write(zone + "energy_uj", "400000000\n");
  telemetry::MetricTable metrics;
  telemetry::Notes notes;
  const auto rapl = telemetry::make_rapl({{tree / "proc", tree / "sys"}, metrics, notes});
  PowerTrace trace = trace_of([](double) { return std::nan(""); }, "rapl");
  double joules = 400;
  for (int i = 0; i * kTick_s <= kAll_s; ++i) {
    const double shown = std::fmod(joules, kRange_j);
    tree.write(zone + "energy_uj", std::to_string(std::int64_t(shown * 1e6)) + "\n");
    std::vector<telemetry::Sample> rows;
    rapl->sample(static_cast<std::int64_t>(i * kTick_s * 1e9), rows);
    for (const telemetry::Sample& row : rows)
      (metrics.name(row.metric) == "rapl.energy_j" ? trace.sources[0].joules
                                                   : trace.sources[0].watts)
          .add(row.t_ns, row.value);
    joules += usual(i * kTick_s) * kTick_s;
  }
  const MeasuredRun run = judge_run(trace, {});
  EXPECT_THAT(run.rejected, IsEmpty());
  EXPECT_NEAR(run.energy_j, kBusy_w * kJob_s, 0.01 * kBusy_w * kJob_s);
}

TEST(Protocol, FindsTheJobOfATraceWithoutTimes) {
  PowerTrace trace = trace_of(usual);
  trace.job.reset();
  const MeasuredRun run = judge_run(trace, {});
  EXPECT_THAT(run.rejected, IsEmpty());
  EXPECT_NEAR(run.latency_s, kJob_s, 2 * kTick_s);
  PowerTrace flat = trace_of([](double s) { return 20 + 0.01 * std::sin(s); });
  flat.job.reset();
  EXPECT_THAT(judge_run(flat, {}).rejected, HasSubstr("never rises"));
}

TEST(Protocol, IntervalsNarrowWithRuns) {
  EXPECT_EQ(interval_of({}).runs, 0U);
  EXPECT_TRUE(std::isinf(interval_of({5}).relative()));
  // Mean 10, deviation 1, three runs: 4.303 / sqrt(3).
  const Interval three = interval_of({9, 10, 11});
  EXPECT_NEAR(three.half, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(three.mad, 1);
  EXPECT_LT(interval_of({9, 10, 11, 9, 10, 11}).relative(), three.relative() / 2);
}

PowerSource source(const char* kind, std::int32_t device, const char* name, double watts) {
  PowerSource made{kind, device, name, TraceSeries(), TraceSeries()};
  made.watts.add(0, watts);
  made.watts.add(1, watts);
  return made;
}

TEST(PowerSources, CountNoWattTwice) {
  const auto chosen = [](std::vector<PowerSource> sources, const std::string& kind = {}) {
    PowerTrace trace;
    trace.sources = std::move(sources);
    choose_sources(trace, kind);
    std::string names;
    for (const PowerSource& one : trace.sources) names += one.kind + ":" + one.name + " ";
    return names;
  };
  const PowerSource package = source("rapl", 0, "package-0", 80),
                    core = source("rapl", 1, "package-0/core", 60),
                    memory = source("rapl", 2, "package-0/dram", 9),
                    platform = source("rapl", 3, "psys", 140), gpu = source("gpu", 0, "A", 200),
                    rail = source("hwmon", 0, "GPU", 5), whole = source("hwmon", 1, "IN", 12);
  EXPECT_EQ(chosen({package, core, memory, gpu}), "rapl:package-0 rapl:package-0/dram gpu:A ");
  EXPECT_EQ(chosen({package, core, memory, platform}), "rapl:psys ");
  EXPECT_EQ(chosen({package, source("meter", 0, "", 300)}), "meter: ");
  EXPECT_EQ(chosen({rail, whole}), "hwmon:IN ");
  EXPECT_EQ(chosen({package, gpu}, "gpu"), "gpu:A ");
  EXPECT_EQ(chosen({source("estimate", 0, "", 50)}), "estimate: ");
  EXPECT_EQ(chosen({}), "");
}

TEST(PowerSources, LogsOfMetersHoldRunsToo) {
  test::TempDir directory;
  std::string log;
  for (int i = 0; i * kTick_s <= kAll_s; ++i) {
    char line[120];
    const double s = i * kTick_s;
    std::snprintf(line, sizeof line,
                  "Time,11-18-2026 10:00:%06.3f,Watts,%.3f,Volts,230,Mark,notset\n", s, usual(s));
    log += line;
  }
  const auto reader = telemetry::open_trace(directory.write("meter.log", log));
  std::vector<PowerTrace> traces = read_power(*reader, 0);
  ASSERT_EQ(traces.size(), 1U);
  ASSERT_TRUE(choose_sources(traces[0]));
  const MeasuredRun run = judge_run(traces[0], {});
  EXPECT_THAT(run.rejected, IsEmpty());
  EXPECT_NEAR(run.power_w, kBusy_w, 0.1);
}

}  // namespace
}  // namespace omen::power
