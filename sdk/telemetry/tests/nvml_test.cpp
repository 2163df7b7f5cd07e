// SPDX-License-Identifier: Apache-2.0
// The NVML source against a library that behaves, and against every way in which it can misbehave.
#include "omen/telemetry/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/telemetry/clock.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/recording.hpp"
#include "omen/telemetry/sampler.hpp"
#include "omen/telemetry/summary.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using test::Bench;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::string library(const std::string& kind) {
  return std::string(OMEN_FAKE_NVML_DIR) + "/" + kind + "/libnvidia-ml.so.1";
}

// Opens the fake with faults, and collects all rows of several ticks.
struct Fixture : Bench {
  NvmlSources nvml;

  explicit Fixture(const char* faults, const std::string& kind = "current") {
    setenv("OMEN_FAKE_NVML", faults, 1);
    nvml = make_nvml(context(), library(kind));
  }
  void ticks(int count) {
    std::vector<Sample> all;
    for (int i = 0; i < count; ++i) {
      for (const SourcePtr& device : nvml.devices) {
        tick(*device, i);
        all.insert(all.end(), rows.begin(), rows.end());
      }
    }
    rows = all;
  }
  const Note& only_note(NoteKind kind) {
    static Note none;
    found_ = notes.list();
    for (const Note& note : found_)
      if (note.kind == kind) return note;
    return none;
  }

 private:
  std::vector<Note> found_;
};

Error open_error(const char* faults, const std::string& kind = "current") {
  setenv("OMEN_FAKE_NVML", faults, 1);
  Bench bench;
  return thrown_by([&] { make_nvml(bench.context(), library(kind)); });
}

TEST(Nvml, EveryQuantityOfAHealthyDevice) {
  Fixture gpu("hbm_power");
  gpu.ticks(2);
  EXPECT_EQ(gpu.nvml.gpus, 2);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), ElementsAre(70, 70));
  EXPECT_THAT(gpu.values("gpu.util_percent", 1), ElementsAre(71, 71));
  EXPECT_THAT(gpu.values("gpu.mem_util_percent", 0), ElementsAre(40, 40));
  EXPECT_THAT(gpu.values("gpu.mem_used_bytes", 0), ElementsAre(8 * kGiB, 8 * kGiB));
  EXPECT_THAT(gpu.values("gpu.mem_total_bytes", 0), ElementsAre(40 * kGiB, 40 * kGiB));
  EXPECT_THAT(gpu.values("gpu.power_w", 0), ElementsAre(DoubleEq(250), DoubleEq(250)));
  EXPECT_THAT(gpu.values("gpu.power_instant_w", 0), ElementsAre(DoubleEq(260), DoubleEq(260)));
  EXPECT_THAT(gpu.values("gpu.power_average_w", 0), ElementsAre(DoubleEq(248), DoubleEq(248)));
  EXPECT_THAT(gpu.values("gpu.power_memory_w", 0), ElementsAre(DoubleEq(48), DoubleEq(48)));
  EXPECT_THAT(gpu.values("gpu.energy_j", 0), ElementsAre(DoubleEq(0), DoubleEq(25)));
  EXPECT_THAT(gpu.values("gpu.clock_sm_mhz", 0), ElementsAre(1410, 1410));
  EXPECT_THAT(gpu.values("gpu.clock_mem_mhz", 0), ElementsAre(1593, 1593));
  EXPECT_THAT(gpu.values("gpu.temperature_c", 0), ElementsAre(61, 61));
  EXPECT_THAT(gpu.values("gpu.throttle_reasons", 0), ElementsAre(1, 1));
  EXPECT_THAT(gpu.values("gpu.throttled", 0), ElementsAre(0, 0)) << "idle is no throttling";
  EXPECT_THAT(gpu.values("gpu.process_mem_bytes", 0, 4000), ElementsAre(2 * kGiB, 2 * kGiB));
  EXPECT_THAT(gpu.values("gpu.process_sm_percent", 0, 4000), ElementsAre(65, 65));
  EXPECT_THAT(gpu.notes.list(), IsEmpty());
  gpu.tick(*gpu.nvml.pcie[1], 0);
  EXPECT_THAT(gpu.values("gpu.pcie_rx_bytes_per_s", 1), ElementsAre(2048 * 1024));
  EXPECT_THAT(gpu.values("gpu.pcie_tx_bytes_per_s", 1), ElementsAre(1024 * 1024));
  const DeviceInfo info = gpu.nvml.devices[1]->devices()[0];
  EXPECT_EQ(info.name, "Fake A100");
  EXPECT_THAT(info.facts,
              ::testing::Contains(std::pair<std::string, std::string>{"uuid", "GPU-fake-1"}));
  EXPECT_THAT(info.facts,
              ::testing::Contains(std::pair<std::string, std::string>{"power_limit_w", "400"}));
}

TEST(Nvml, ThrottlingIsSeen) {
  Fixture gpu("throttled");
  gpu.ticks(1);
  EXPECT_THAT(gpu.values("gpu.throttled", 0), ElementsAre(1));
  EXPECT_THAT(gpu.values("gpu.throttle_reasons", 0), ElementsAre(0x24));
}

// ---------------------------------------------------------------------- what fails at the start

struct StartFault {
  const char *name, *faults, *kind, *message, *hint;
};
class NvmlStart : public ::testing::TestWithParam<StartFault> {};

TEST_P(NvmlStart, IsUnavailableWithAHint) {
  const StartFault& fault = GetParam();
  const Error error = open_error(fault.faults, fault.kind);
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.what(), HasSubstr(fault.message));
  EXPECT_THAT(error.hint(), HasSubstr(fault.hint));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, NvmlStart,
    ::testing::Values(
        StartFault{"no_library", "", "nowhere", "no NVIDIA driver", "Install the NVIDIA driver"},
        StartFault{"no_functions", "", "empty", "lacks the functions", "ldconfig"},
        StartFault{"driver_not_loaded", "driver_not_loaded", "current", "Driver Not Loaded",
                   "modprobe nvidia"},
        StartFault{"driver_mismatch", "driver_mismatch", "current", "version mismatch", "reboot"},
        StartFault{"no_permission", "no_permission", "current", "Insufficient Permissions",
                   "/dev/nvidia*"},
        StartFault{"blocked", "blocked", "current", "blocked by the operating system", "--gres"},
        StartFault{"init_unknown", "init_unknown", "current", "Unknown Error", "nvidia-smi"},
        StartFault{"zero_devices", "zero_devices", "current", "shows no GPU", "--gpus all"},
        StartFault{"absurd_count", "absurd_count", "current", "4000000000 GPUs", "nvidia-smi"},
        StartFault{"all_dead", "all_dead", "current", "GPU is lost", "gpu-reset"}),
    [](const auto& info) { return std::string(info.param.name); });

// ----------------------------------------------------------------------- what fails in the run

TEST(NvmlRun, OneDeadDeviceLeavesTheOther) {
  Fixture gpu("one_dead");
  gpu.ticks(2);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(2));
  EXPECT_THAT(gpu.values("gpu.util_percent", 1), IsEmpty());
  EXPECT_TRUE(gpu.has_note("gpu 1 cannot be opened: Interrupt request issue"));
}

TEST(NvmlRun, DeviceLostMidRunKeepsItsRowsAndTheOtherDevice) {
  Fixture gpu("lost=3");
  gpu.ticks(6);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(3));
  EXPECT_THAT(gpu.values("gpu.util_percent", 1), SizeIs(6));
  EXPECT_TRUE(gpu.has_note("gpu 0 (Fake A100) was lost 3.0 s into the run: GPU is lost"));
  EXPECT_THAT(gpu.only_note(NoteKind::kWarning).hint, HasSubstr("dmesg"));
  EXPECT_EQ(gpu.only_note(NoteKind::kWarning).count, 1);
}

TEST(NvmlRun, DeviceThatNeedsAResetEndsTheSameWay) {
  Fixture gpu("reset_required=1");
  gpu.ticks(4);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(1));
  EXPECT_TRUE(gpu.has_note("GPU requires reset"));
}

TEST(NvmlRun, EnergyCounterThatJumpsBackIsCountedOn) {
  Fixture gpu("energy_back=3,devices=1");
  gpu.ticks(5);
  // 1025, 1050, 1075, then a reset: 5, 30.
  EXPECT_THAT(gpu.values("gpu.energy_j", 0),
              ElementsAre(DoubleEq(0), DoubleEq(25), DoubleEq(50), DoubleEq(55), DoubleEq(80)));
  EXPECT_TRUE(gpu.has_note("energy counter jumped back from 1075 J to 5 J"));
}

TEST(NvmlRun, ImpossibleUtilisationIsLeftOut) {
  Fixture gpu("over_100");
  gpu.ticks(3);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.mem_util_percent", 0), SizeIs(3)) << "the other half is fine";
  EXPECT_TRUE(gpu.has_note("impossible values of gpu.util_percent (outside 0..100): left out"));
  EXPECT_EQ(gpu.only_note(NoteKind::kWarning).count, 3);
}

TEST(NvmlRun, AllBitsSetMeansNoValue) {
  Fixture gpu("not_available,devices=1");
  gpu.ticks(2);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.mem_used_bytes", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.power_w", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.mem_total_bytes", 0), SizeIs(2));
  EXPECT_TRUE(gpu.has_note("has no value for gpu.power_w"));
}

TEST(NvmlRun, NotANumberIsNoRow) {
  Fixture gpu("nan_power,devices=1");
  gpu.ticks(2);
  EXPECT_THAT(gpu.values("gpu.power_instant_w", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.power_w", 0), SizeIs(2));
}

TEST(NvmlRun, UnsupportedQuantityIsAskedOnce) {
  Fixture gpu("no_power,devices=1");
  gpu.ticks(3);
  EXPECT_THAT(gpu.values("gpu.power_w", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(3));
  EXPECT_TRUE(gpu.has_note("does not offer gpu.power_w"));
  for (const Note& note : gpu.notes.list()) EXPECT_EQ(note.count, 1) << note.message;
}

TEST(NvmlRun, FlakyCallsLoseSingleRows) {
  Fixture gpu("flaky,devices=1");
  gpu.ticks(9);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(6));
  EXPECT_TRUE(gpu.has_note("gpu.util_percent failed: Unknown Error"));
  EXPECT_FALSE(gpu.has_note("given up"));
}

TEST(NvmlRun, CallThatAlwaysFailsIsGivenUp) {
  Fixture gpu("broken_power,devices=1");
  gpu.ticks(20);
  EXPECT_THAT(gpu.values("gpu.power_w", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(20));
  EXPECT_TRUE(gpu.has_note("gpu.power_w failed 10 times in a row and is given up"));
  EXPECT_EQ(gpu.only_note(NoteKind::kWarning).count, 10);
}

TEST(NvmlRun, ForbiddenProcessListLeavesTheRest) {
  Fixture gpu("no_process_permission,devices=1");
  gpu.ticks(3);
  EXPECT_THAT(gpu.values("gpu.process_mem_bytes", 0, 4000), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(3));
  EXPECT_TRUE(gpu.has_note("no permission to read gpu.process_mem_bytes"));
}

TEST(NvmlRun, ProcessListThatOutgrowsTheBufferIsReadInFull) {
  Fixture gpu("processes=300,devices=1");
  gpu.ticks(1);
  std::size_t processes = 0;
  for (const Sample& row : gpu.rows)
    processes += row.metric == gpu.metrics.id("gpu.process_mem_bytes");
  EXPECT_EQ(processes, 300u);
}

TEST(NvmlRun, ProcessCountBeyondTheBufferIsNotBelieved) {
  Fixture gpu("lying_process_count,devices=1");
  gpu.ticks(2);
  EXPECT_THAT(gpu.values("gpu.process_mem_bytes", 0, 4000), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(2));
  EXPECT_TRUE(gpu.has_note("gpu.process_mem_bytes failed"));
}

TEST(NvmlRun, OldDriverWithoutHalfOfTheFunctions) {
  Fixture gpu("devices=1", "old");
  gpu.ticks(2);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), SizeIs(2));
  EXPECT_THAT(gpu.values("gpu.power_w", 0), SizeIs(2));
  EXPECT_THAT(gpu.values("gpu.energy_j", 0), IsEmpty());
  EXPECT_THAT(gpu.values("gpu.throttled", 0), IsEmpty());
  EXPECT_THAT(gpu.notes.list(), IsEmpty());
  gpu.tick(*gpu.nvml.pcie[0], 0);
  EXPECT_THAT(gpu.rows, IsEmpty());
}

TEST(NvmlRun, MigInstancesAreDevicesOfTheirOwn) {
  Fixture gpu("mig,devices=1");
  gpu.ticks(1);
  EXPECT_THAT(gpu.values("gpu.util_percent", 0), IsEmpty()) << "not supported under MIG";
  EXPECT_THAT(gpu.values("gpu.power_w", 0), SizeIs(1));
  EXPECT_THAT(gpu.values("gpu.mem_total_bytes", kMigStride), ElementsAre(10 * kGiB));
  EXPECT_THAT(gpu.values("gpu.mem_total_bytes", kMigStride + 1), IsEmpty()) << "an empty slot";
  EXPECT_THAT(gpu.values("gpu.mem_total_bytes", kMigStride + 2), ElementsAre(10 * kGiB));
  EXPECT_THAT(gpu.values("gpu.process_mem_bytes", kMigStride, 4000), SizeIs(1));
  EXPECT_THAT(gpu.nvml.devices[0]->devices(), SizeIs(3));
}

TEST(NvmlRun, SlowCallsMissTicksAndSaySo) {
  setenv("OMEN_FAKE_NVML", "slow=30,devices=1", 1);
  auto bench = std::make_shared<Bench>();
  NvmlSources nvml = make_nvml(bench->context(), library("current"));
  auto sampler = std::make_shared<Sampler>("gpu", machine_clock(), 10 * kNsPerMs, bench->notes);
  sampler->add(std::move(nvml.devices[0]));
  std::size_t rows = 0;
  SamplerThread thread(
      sampler, machine_clock().now_ns(),
      [&rows](const std::vector<Sample>& some) { rows += some.size(); }, bench);
  machine_clock().sleep_until(machine_clock().now_ns() + 300 * kNsPerMs);
  ASSERT_TRUE(thread.stop(kNsPerSecond));
  EXPECT_GT(rows, 0u);
  EXPECT_GT(thread.report().missed, 5);
  EXPECT_TRUE(bench->has_note("the slowest reading was nvml"));
}

TEST(NvmlRun, OneGpuThatHangsCostsNoRowsOfTheOthersAndNoTimeOfTheJob) {
  setenv("OMEN_FAKE_NVML", "hang=1500,devices=3", 1);
  test::TempTree tree;
  RecordOptions options;
  options.interval_ns = 20 * kNsPerMs;
  options.host = options.amd = Need::kNo;
  options.nvml = Need::kRequired;
  options.nvml_library = library("current");
  options.directory = tree.root();
  const Recording recording = record(options, {{"sleep", "0.6"}, 0, std::nullopt, 1}, {});
  LogReader reader(recording.log);
  const Summary summary = summarise(reader);
  EXPECT_LT(summary.find("job.start_s")->last(), 1) << "the job did not wait for the GPU";
  for (const std::int32_t gpu : {1, 2}) {
    ASSERT_TRUE(summary.find("gpu.util_percent", gpu)) << gpu;
    EXPECT_GE(summary.find("gpu.util_percent", gpu)->rows(), 8) << gpu;
  }
  // A tick that hangs is a tick that comes late, not one that is lost.
  const SeriesSummary* hung = summary.find("gpu.util_percent", 0);
  EXPECT_LE(hung ? hung->rows() : 0, 3);
}

}  // namespace
}  // namespace omen::telemetry
