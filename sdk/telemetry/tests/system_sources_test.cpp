// SPDX-License-Identifier: Apache-2.0
// Process trees, control groups, energy counters, sensors and AMD GPUs from fixture trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "omen/telemetry/clock.hpp"
#include "omen/telemetry/sources.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using test::Bench;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// ---------------------------------------------------------------------------------- process trees

struct FakeProcess {
  int pid, parent;
  long cpu_ticks = 0, waited_ticks = 0, threads = 1, rss_pages = 10, start = 100;
  long read_bytes = 0, switches = 0;
};

void write_process(const Bench& bench, const FakeProcess& p, const std::string& command = "job") {
  const std::string dir = "proc/" + std::to_string(p.pid) + "/";
  bench.tree.write(dir + "stat", std::to_string(p.pid) + " (" + command + ") S " +
                                     std::to_string(p.parent) + " 1 1 0 -1 0 0 0 0 0 " +
                                     std::to_string(p.cpu_ticks) + " 0 " +
                                     std::to_string(p.waited_ticks) + " 0 20 0 " +
                                     std::to_string(p.threads) + " 0 " + std::to_string(p.start) +
                                     " 1000 " + std::to_string(p.rss_pages) + " 0\n");
  bench.tree.write(dir + "io",
                   "rchar: 5\nread_bytes: " + std::to_string(p.read_bytes) + "\nwrite_bytes: 0\n");
  bench.tree.write(dir + "status", "Name:\tx\nvoluntary_ctxt_switches:\t" +
                                       std::to_string(p.switches) +
                                       "\nnonvoluntary_ctxt_switches:\t0\n");
}

// A figure of the tree below process 10.
double tree_value(Bench& bench, const std::string& figure) {
  return bench.value("proc." + figure, -1, 10);
}

TEST(ProcessTree, SumsDescendantsAndKeepsShortLivedChildren) {
  Bench bench;
  const double hz = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  write_process(bench, {.pid = 10, .parent = 1, .cpu_ticks = 100, .threads = 3});
  write_process(bench, {.pid = 11, .parent = 10, .cpu_ticks = 50, .read_bytes = 1000}, "a b) c");
  write_process(bench, {.pid = 12, .parent = 11, .cpu_ticks = 20, .switches = 5});
  write_process(bench, {.pid = 99, .parent = 1, .cpu_ticks = 1000000});
  EXPECT_THAT(process_tree(bench.context().roots, 10), UnorderedElementsAre(10, 11, 12));

  const SourcePtr source = make_process_tree(bench.context(), 10);
  bench.tick(*source, 0);
  EXPECT_EQ(tree_value(bench, "processes"), 3);
  EXPECT_EQ(tree_value(bench, "threads"), 5);
  EXPECT_EQ(tree_value(bench, "rss_bytes"), 30 * page);
  EXPECT_THAT(bench.values("proc.cpu_percent", -1, 10), IsEmpty());

  // 12 ends after 10 more steps and is waited for by 11, which itself used 20.
  bench.tree.remove("proc/12");
  write_process(bench,
                {.pid = 11, .parent = 10, .cpu_ticks = 70, .waited_ticks = 30, .read_bytes = 3000},
                "a b) c");
  bench.tick(*source, 2);
  EXPECT_DOUBLE_EQ(tree_value(bench, "cpu_percent"), 30 / hz / 2 * 100);
  EXPECT_DOUBLE_EQ(tree_value(bench, "read_bytes_per_s"), 1000);
  EXPECT_DOUBLE_EQ(tree_value(bench, "context_switches_per_s"), 0)
      << "what an ended process counted stays in the sum";
  EXPECT_EQ(tree_value(bench, "processes"), 2);
}

TEST(ProcessTree, OrphansStayAndReusedPidsDoNot) {
  Bench bench;
  write_process(bench, {.pid = 10, .parent = 1});
  write_process(bench, {.pid = 11, .parent = 10});
  write_process(bench, {.pid = 12, .parent = 11, .start = 100});
  const SourcePtr source = make_process_tree(bench.context(), 10);
  bench.tick(*source, 0);
  bench.tree.remove("proc/11");
  write_process(bench, {.pid = 12, .parent = 1, .start = 100});  // adopted by init
  bench.tick(*source, 1);
  EXPECT_EQ(tree_value(bench, "processes"), 2);
  write_process(bench, {.pid = 12, .parent = 1, .start = 777});  // another process
  bench.tick(*source, 2);
  EXPECT_EQ(tree_value(bench, "processes"), 1);
}

TEST(ProcessTree, ProcessOfAnotherUserHasNoTraffic) {
  Bench bench;
  write_process(bench, {.pid = 10, .parent = 1});
  bench.tree.remove("proc/10/io");
  const SourcePtr source = make_process_tree(bench.context(), 10);
  bench.tick(*source, 0);
  bench.tick(*source, 1);
  EXPECT_EQ(tree_value(bench, "processes"), 1);
  EXPECT_THAT(bench.values("proc.read_bytes_per_s", -1, 10), IsEmpty());
}

TEST(ProcessTree, UnknownPidIsUnavailable) {
  Bench bench;
  const Error error = thrown_by([&] { make_process_tree(bench.context(), 12345); });
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.what(), HasSubstr("no process 12345"));
}

TEST(ProcessTree, FindsRealChildren) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) pause();
    const bool sent = write(ready[1], &grandchild, sizeof grandchild) == sizeof grandchild;
    if (sent) pause();
    _exit(1);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(ready[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  EXPECT_THAT(process_tree({}, child), UnorderedElementsAre(child, grandchild));
  kill(grandchild, SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

// -------------------------------------------------------------------------------- control groups

constexpr const char* kGroup = "sys/fs/cgroup/slurm/job_7/";

void write_group(const Bench& bench, long usage_us, long throttled_us) {
  const std::string at = kGroup;
  bench.tree.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  bench.tree.write("proc/self/cgroup", "0::/slurm/job_7\n");
  bench.tree.write(at + "cpu.stat", "usage_usec " + std::to_string(usage_us) +
                                        "\nuser_usec 1\nthrottled_usec " +
                                        std::to_string(throttled_us) + "\n");
  bench.tree.write_lines(
      at, {{"memory.current", "1048576"},
           {"memory.peak", "2097152"},
           {"memory.max", "max"},
           {"cpu.max", "250000 100000"},
           {"memory.events", "low 0\noom 1\noom_kill 2"},
           {"pids.current", "17"},
           {"memory.pressure",
            "some avg10=1.25 avg60=0.5 avg300=0 total=9\nfull avg10=0 avg60=0 avg300=0"}});
  bench.tree.write_lines("sys/fs/cgroup/slurm/",
                         {{"memory.max", "4194304"}, {"cpu.max", "max 100000"}});
}

TEST(Cgroup, UsageAndTheTightestLimitOfAllParents) {
  Bench bench;
  write_group(bench, 1'000'000, 0);
  const SourcePtr source = make_cgroup(bench.context());
  bench.tick(*source, 0);
  write_group(bench, 2'500'000, 100'000);
  bench.tick(*source, 1);
  EXPECT_DOUBLE_EQ(bench.value("cgroup.cpu_percent"), 150);
  EXPECT_DOUBLE_EQ(bench.value("cgroup.throttled_percent"), 10);
  EXPECT_DOUBLE_EQ(bench.value("cgroup.cpu_limit_cores"), 2.5);
  EXPECT_EQ(bench.value("cgroup.memory_bytes"), 1048576);
  EXPECT_EQ(bench.value("cgroup.memory_peak_bytes"), 2097152);
  EXPECT_EQ(bench.value("cgroup.memory_limit_bytes"), 4194304) << "set by the parent";
  EXPECT_EQ(bench.value("cgroup.oom_kills"), 2);
  EXPECT_EQ(bench.value("cgroup.pids"), 17);
  EXPECT_DOUBLE_EQ(bench.value("cgroup.memory_pressure_percent"), 1.25);
  EXPECT_THAT(bench.values("cgroup.swap_bytes"), IsEmpty());
  EXPECT_EQ(source->devices()[0].name, "/slurm/job_7");
}

TEST(Cgroup, HybridMountIsFound) {
  Bench bench;
  bench.tree.write("sys/fs/cgroup/unified/cgroup.controllers", "");
  bench.tree.write("proc/5/cgroup", "3:cpu:/x\n0::/a\n");
  bench.tree.write("sys/fs/cgroup/unified/a/cpu.max", "100000 100000\n");
  const SourcePtr source = make_cgroup(bench.context(), 5);
  bench.tick(*source, 0);
  EXPECT_DOUBLE_EQ(bench.value("cgroup.cpu_limit_cores"), 1);
}

TEST(Cgroup, VersionOneAndTheRootAreUnavailableWithDifferentHints) {
  Bench bench;
  EXPECT_THAT(thrown_by([&] { make_cgroup(bench.context()); }).hint(), HasSubstr("unified"));
  bench.tree.write("sys/fs/cgroup/cgroup.controllers", "");
  bench.tree.write("proc/self/cgroup", "0::/\n");
  bench.tree.write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  const Error root = thrown_by([&] { make_cgroup(bench.context()); });
  EXPECT_EQ(root.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(root.hint(), HasSubstr("systemd-run"));
}

// ------------------------------------------------------------------------------- energy counters

TEST(Rapl, EnergySurvivesTheWrapOfItsCounter) {
  Bench bench;
  const std::string zone = "sys/class/powercap/intel-rapl:0/";
  bench.tree.write_lines(
      zone, {{"name", "package-0"}, {"max_energy_range_uj", "9999999"}, {"energy_uj", "9000000"}});
  bench.tree.write_lines(
      "sys/class/powercap/intel-rapl:0:1/",
      {{"name", "dram"}, {"max_energy_range_uj", "9999999"}, {"energy_uj", "100"}});
  const SourcePtr source = make_rapl(bench.context());
  bench.tick(*source, 0);
  EXPECT_EQ(bench.value("rapl.energy_j", 0), 0);
  EXPECT_THAT(bench.values("rapl.power_w", 0), IsEmpty());
  bench.tree.write(zone + "energy_uj", "1000000\n");  // 10,000,000 - 9,000,000 + 1,000,000
  bench.tick(*source, 0.5);
  EXPECT_NEAR(bench.value("rapl.energy_j", 0), 2, 1e-9);
  EXPECT_NEAR(bench.value("rapl.power_w", 0), 4, 1e-9);
  ASSERT_THAT(source->devices(), SizeIs(2));
  EXPECT_EQ(source->devices()[1].name, "package-0/dram");
}

TEST(Rapl, AbsentCountersAreUnavailable) {
  Bench bench;
  const Error error = thrown_by([&] { make_rapl(bench.context()); });
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.hint(), HasSubstr("intel_rapl_msr"));
}

TEST(Rapl, ForbiddenCountersSayHowToAllowThem) {
  Bench bench;
  bench.tree.write_lines("sys/class/powercap/intel-rapl:0/",
                         {{"name", "package-0"}, {"energy_uj", "5"}});
  std::filesystem::permissions(bench.tree / "sys/class/powercap/intel-rapl:0/energy_uj",
                               std::filesystem::perms::none);
  // The root user reads everything, so the check runs as nobody in a child.
  const pid_t child = fork();
  if (child == 0) {
    std::filesystem::permissions(bench.tree.root(), std::filesystem::perms::all);
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(3);
    const Error error = thrown_by([&] { make_rapl(bench.context()); });
    const bool good = error.code() == OMEN_UNAVAILABLE &&
                      std::string(error.what()).find("no permission") != std::string::npos &&
                      error.hint().find("chmod a+r") != std::string::npos;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// ------------------------------------------------------------------------------ sensors, AMD GPUs

TEST(Hwmon, UnitsAndLabels) {
  Bench bench;
  bench.tree.write_lines("sys/class/hwmon/hwmon0/", {{"name", "ina3221"},
                                                     {"in1_input", "5040"},
                                                     {"in1_label", "VDD_GPU"},
                                                     {"curr1_input", "1500"},
                                                     {"temp1_input", "45500"},
                                                     {"temp1_max", "99000"},
                                                     {"power1_average", "12000000"},
                                                     {"fan1_input", "1200"},
                                                     {"temp2_input", "not a number"}});
  const SourcePtr source = make_hwmon(bench.context());
  bench.tick(*source, 0);
  std::map<std::string, double> by_name;
  const auto devices = source->devices();
  for (const Sample& row : bench.rows)
    by_name[devices[static_cast<std::size_t>(row.device)].name + " " +
            bench.metrics.name(row.metric)] = row.value;
  EXPECT_THAT(by_name, SizeIs(5));
  EXPECT_DOUBLE_EQ(by_name["ina3221/VDD_GPU hwmon.voltage_v"], 5.04);
  EXPECT_DOUBLE_EQ(by_name["ina3221/curr1 hwmon.current_a"], 1.5);
  EXPECT_DOUBLE_EQ(by_name["ina3221/temp1 hwmon.temperature_c"], 45.5);
  EXPECT_DOUBLE_EQ(by_name["ina3221/power1 hwmon.power_w"], 12);
  EXPECT_DOUBLE_EQ(by_name["ina3221/fan1 hwmon.fan_rpm"], 1200);
}

TEST(Hwmon, AbsentSensorsAreUnavailable) {
  Bench bench;
  EXPECT_EQ(thrown_by([&] { make_hwmon(bench.context()); }).code(), OMEN_UNAVAILABLE);
}

TEST(AmdSysfs, ReadsCardsOfTheVendorOnly) {
  Bench bench;
  bench.tree.write("sys/class/drm/card0/device/vendor", "0x8086\n");
  bench.tree.write_lines("sys/class/drm/card1/device/",
                         {{"vendor", "0x1002"},
                          {"product_name", "Instinct MI210"},
                          {"gpu_busy_percent", "87"},
                          {"mem_info_vram_used", "1000000"},
                          {"mem_info_vram_total", "64000000"},
                          {"hwmon/hwmon3/power1_average", "210000000"},
                          {"hwmon/hwmon3/temp1_input", "55000"},
                          {"hwmon/hwmon3/freq1_input", "1700000000"}});
  bench.tree.write("sys/class/drm/card1-DP-1/status", "x");
  const SourcePtr source = make_amd_sysfs(bench.context(), 2);
  bench.tick(*source, 0);
  EXPECT_EQ(bench.value("gpu.util_percent", 2), 87);
  EXPECT_EQ(bench.value("gpu.mem_used_bytes", 2), 1000000);
  EXPECT_DOUBLE_EQ(bench.value("gpu.power_w", 2), 210);
  EXPECT_DOUBLE_EQ(bench.value("gpu.temperature_c", 2), 55);
  EXPECT_DOUBLE_EQ(bench.value("gpu.clock_sm_mhz", 2), 1700);
  EXPECT_THAT(bench.values("gpu.mem_util_percent", 2), IsEmpty());
  EXPECT_EQ(source->devices()[0].name, "Instinct MI210");
}

TEST(AmdSysfs, AbsentOrMuteCardsAreUnavailable) {
  Bench bench;
  EXPECT_THAT(thrown_by([&] { make_amd_sysfs(bench.context()); }).what(), HasSubstr("no AMD GPU"));
  bench.tree.write("sys/class/drm/card0/device/vendor", "0x1002\n");
  EXPECT_THAT(thrown_by([&] { make_amd_sysfs(bench.context()); }).what(),
              HasSubstr("gives no figures"));
}

}  // namespace
}  // namespace omen::telemetry
