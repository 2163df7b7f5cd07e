// SPDX-License-Identifier: Apache-2.0
// CPU, memory, disks and network from fixture trees, with every figure worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/telemetry/sources.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using test::Bench;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kStatBefore =
    "cpu  1000 100 300 5000 50 10 20 30 40 5\n"
    "cpu0 500 50 150 2500 25 5 10 15 20 5\n"
    "cpu1 500 50 150 2500 25 5 10 15 20 0\n"
    "intr 1000 7 0 3\n"
    "ctxt 2000\nbtime 1\nprocesses 300\nprocs_running 2\nprocs_blocked 1\n";
// Core 0: 100 steps: 30 user of which 10 guest, 10 nice of which 5 guest, 20 system, 20 idle, 10
// iowait, 2 irq, 3 softirq, 5 steal. Core 1: 100 steps idle.
constexpr const char* kStatAfter =
    "cpu  1030 110 320 5120 60 12 23 35 50 10\n"
    "cpu0 530 60 170 2520 35 7 13 20 30 10\n"
    "cpu1 500 50 150 2600 25 5 10 15 20 0\n"
    "intr 1600 7 0 3\n"
    "ctxt 2500\nbtime 1\nprocesses 310\nprocs_running 3\nprocs_blocked 0\n";

TEST(ProcStat, SharesAreThoseOfMpstat) {
  Bench bench;
  bench.tree.write("proc/stat", kStatBefore);
  const SourcePtr source = make_proc_stat(bench.context());
  bench.tick(*source, 0);
  EXPECT_THAT(bench.values("cpu.busy_percent"), IsEmpty()) << "a share needs two readings";
  EXPECT_THAT(bench.values("sys.running_processes"), ElementsAre(2));
  bench.tree.write("proc/stat", kStatAfter);
  bench.tick(*source, 2);
  EXPECT_THAT(bench.values("cpu.usr_percent", 0), ElementsAre(DoubleEq(20)));
  EXPECT_THAT(bench.values("cpu.guest_percent", 0), ElementsAre(DoubleEq(10)));
  EXPECT_THAT(bench.values("cpu.nice_percent", 0), ElementsAre(DoubleEq(5)));
  EXPECT_THAT(bench.values("cpu.guest_nice_percent", 0), ElementsAre(DoubleEq(5)));
  EXPECT_THAT(bench.values("cpu.sys_percent", 0), ElementsAre(DoubleEq(20)));
  EXPECT_THAT(bench.values("cpu.idle_percent", 0), ElementsAre(DoubleEq(20)));
  EXPECT_THAT(bench.values("cpu.iowait_percent", 0), ElementsAre(DoubleEq(10)));
  EXPECT_THAT(bench.values("cpu.irq_percent", 0), ElementsAre(DoubleEq(2)));
  EXPECT_THAT(bench.values("cpu.softirq_percent", 0), ElementsAre(DoubleEq(3)));
  EXPECT_THAT(bench.values("cpu.steal_percent", 0), ElementsAre(DoubleEq(5)));
  EXPECT_THAT(bench.values("cpu.busy_percent", 0), ElementsAre(DoubleEq(80)));
  EXPECT_THAT(bench.values("cpu.busy_percent", 1), ElementsAre(DoubleEq(0)));
  EXPECT_THAT(bench.values("cpu.busy_percent"), ElementsAre(DoubleEq(40)));
  EXPECT_THAT(bench.values("sys.context_switches_per_s"), ElementsAre(DoubleEq(250)));
  EXPECT_THAT(bench.values("sys.interrupts_per_s"), ElementsAre(DoubleEq(300)));
  EXPECT_THAT(bench.values("sys.forks_per_s"), ElementsAre(DoubleEq(5)));
  ASSERT_EQ(source->devices().size(), 2u);
  EXPECT_EQ(source->devices()[1].index, 1);
}

TEST(ProcStat, TickWithinTheKernelsGrainGivesNoShare) {
  Bench bench;
  bench.tree.write("proc/stat", kStatBefore);
  const SourcePtr source = make_proc_stat(bench.context());
  bench.tick(*source, 0);
  bench.tick(*source, 0.005);
  EXPECT_THAT(bench.values("cpu.busy_percent"), IsEmpty());
}

TEST(ProcStat, ColumnsThatStepBackCountAsNoTime) {
  Bench bench;
  bench.tree.write("proc/stat", "cpu  100 0 0 500 90 0 0 0 0 0\n");
  const SourcePtr source = make_proc_stat(bench.context());
  bench.tick(*source, 0);
  bench.tree.write("proc/stat", "cpu  150 0 0 550 80 0 0 0 0 0\n");  // iowait fell by 10
  bench.tick(*source, 1);
  EXPECT_THAT(bench.values("cpu.usr_percent"), ElementsAre(DoubleEq(50)));
  EXPECT_THAT(bench.values("cpu.iowait_percent"), ElementsAre(DoubleEq(0)));
}

TEST(ProcStat, CoreThatGoesOfflineEndsItsSeries) {
  Bench bench;
  bench.tree.write("proc/stat", kStatBefore);
  const SourcePtr source = make_proc_stat(bench.context());
  bench.tick(*source, 0);
  bench.tree.write("proc/stat",
                   "cpu  1030 110 320 5120 60 12 23 35 50 10\n"
                   "cpu0 530 60 170 2520 35 7 13 20 30 10\n");
  bench.tick(*source, 1);
  EXPECT_THAT(bench.values("cpu.busy_percent", 0), ElementsAre(DoubleEq(80)));
  EXPECT_THAT(bench.values("cpu.busy_percent", 1), IsEmpty());
}

TEST(ProcStat, MissingFileIsUnavailable) {
  Bench bench;
  const Error error = thrown_by([&] { make_proc_stat(bench.context()); });
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.hint(), HasSubstr("Mount /proc"));
}

TEST(ProcMemory, BytesAndDerivedFigures) {
  Bench bench;
  bench.tree.write("proc/meminfo",
                   "MemTotal:       8000 kB\nMemFree:        1000 kB\nMemAvailable:   5000 kB\n"
                   "Buffers:         100 kB\nCached:          900 kB\nDirty:            12 kB\n"
                   "SwapTotal:      2000 kB\nSwapFree:       1500 kB\n");
  const SourcePtr source = make_proc_memory(bench.context());
  bench.tick(*source, 0);
  EXPECT_THAT(bench.values("mem.total_bytes"), ElementsAre(8000 * 1024));
  EXPECT_THAT(bench.values("mem.used_bytes"), ElementsAre(3000 * 1024));
  EXPECT_THAT(bench.values("mem.swap_used_bytes"), ElementsAre(500 * 1024));
  EXPECT_THAT(bench.values("mem.dirty_bytes"), ElementsAre(12 * 1024));
}

TEST(ProcMemory, FieldThatIsMissingGivesNoRow) {
  Bench bench;
  bench.tree.write("proc/meminfo", "MemTotal: 8000 kB\nMemFree: 1000 kB\n");
  const SourcePtr source = make_proc_memory(bench.context());
  bench.tick(*source, 0);
  EXPECT_THAT(bench.values("mem.free_bytes"), ElementsAre(1000 * 1024));
  EXPECT_THAT(bench.values("mem.used_bytes"), IsEmpty());
}

TEST(Disk, RatesOfWholeDisksOnly) {
  Bench bench;
  bench.tree.write("sys/block/sda/size", "1");
  bench.tree.write("sys/block/loop0/size", "1");
  bench.tree.write("proc/diskstats",
                   "   8 0 sda 100 0 1000 50 200 0 4000 60 0 500 110\n"
                   "   8 1 sda1 100 0 1000 50 200 0 4000 60 0 500 110\n"
                   "   7 0 loop0 1 0 10 5 2 0 40 6 0 5 11\n");
  const SourcePtr source = make_disk(bench.context());
  bench.tick(*source, 0);
  EXPECT_THAT(bench.rows, IsEmpty());
  bench.tree.write("proc/diskstats", "   8 0 sda 110 0 1200 50 230 0 4400 60 0 1500 110\n");
  bench.tick(*source, 2);
  EXPECT_THAT(bench.values("disk.reads_per_s", 0), ElementsAre(DoubleEq(5)));
  EXPECT_THAT(bench.values("disk.read_bytes_per_s", 0), ElementsAre(DoubleEq(51200)));
  EXPECT_THAT(bench.values("disk.writes_per_s", 0), ElementsAre(DoubleEq(15)));
  EXPECT_THAT(bench.values("disk.write_bytes_per_s", 0), ElementsAre(DoubleEq(102400)));
  EXPECT_THAT(bench.values("disk.busy_percent", 0), ElementsAre(DoubleEq(50)));
  ASSERT_EQ(source->devices().size(), 1u);
  EXPECT_EQ(source->devices()[0].name, "sda");
}

TEST(Disk, MachineWithoutDisksIsUnavailable) {
  Bench bench;
  bench.tree.write("proc/diskstats", "   7 0 loop0 1 0 10 5 2 0 40 6 0 5 11\n");
  EXPECT_EQ(thrown_by([&] { make_disk(bench.context()); }).code(), OMEN_UNAVAILABLE);
}

std::string net_dev(const std::string& lines) {
  return "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo\n" + lines;
}

TEST(Nic, RatesWithoutLoopbackAndNoNegativeRateAfterAReset) {
  Bench bench;
  bench.tree.write("proc/net/dev", net_dev("    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
                                           "  eth0:1000 10 1 0 0 0 0 0 2000 20 0 2 0 0 0 0\n"));
  const SourcePtr source = make_nic(bench.context());
  bench.tick(*source, 0);
  bench.tree.write("proc/net/dev", net_dev("  eth0:3000 30 3 0 0 0 0 0 2500 25 1 6 0 0 0 0\n"));
  bench.tick(*source, 2);
  EXPECT_THAT(bench.values("nic.rx_bytes_per_s", 0), ElementsAre(DoubleEq(1000)));
  EXPECT_THAT(bench.values("nic.tx_bytes_per_s", 0), ElementsAre(DoubleEq(250)));
  EXPECT_THAT(bench.values("nic.rx_packets_per_s", 0), ElementsAre(DoubleEq(10)));
  EXPECT_THAT(bench.values("nic.errors_per_s", 0), ElementsAre(DoubleEq(1.5)));
  EXPECT_THAT(bench.values("nic.drops_per_s", 0), ElementsAre(DoubleEq(2)));
  bench.tree.write("proc/net/dev", net_dev("  eth0:10 1 0 0 0 0 0 0 2600 26 1 6 0 0 0 0\n"));
  bench.tick(*source, 3);
  EXPECT_THAT(bench.values("nic.rx_bytes_per_s", 0), IsEmpty());
  EXPECT_THAT(bench.values("nic.tx_bytes_per_s", 0), ElementsAre(DoubleEq(100)));
}

TEST(HostSources, ThisMachineAnswers) {
  MetricTable metrics;
  Notes notes;
  const Context context{{}, metrics, notes};
  std::vector<Sample> rows;
  for (const SourcePtr& source : {make_proc_stat(context), make_proc_memory(context)})
    source->sample(0, rows);
  EXPECT_GT(rows.size(), 5u);
}

}  // namespace
}  // namespace omen::telemetry
