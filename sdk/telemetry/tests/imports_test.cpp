// SPDX-License-Identifier: Apache-2.0
// Traces of other tools: every format is recognised by its content and read to the last figure.
#include "omen/telemetry/imports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "import_text.hpp"
#include "omen/telemetry/clock.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// All rows of a trace by "metric device", as (seconds, value).
struct Trace {
  std::map<std::string, std::vector<std::pair<double, double>>> series;
  std::map<std::string, std::string> metadata;
  std::map<std::int64_t, std::int64_t> starts;
  std::int64_t last_workload = 0;

  explicit Trace(RowReaderPtr reader) {
    std::vector<LogRow> rows;
    while (reader->next(rows))
      for (const LogRow& row : rows) {
        const std::string name = reader->metrics()[static_cast<std::size_t>(row.sample.metric)];
        series[name + " " + std::to_string(row.sample.device)].emplace_back(
            static_cast<double>(row.sample.t_ns) / 1e9, row.sample.value);
        last_workload = row.workload_id;
      }
    metadata = reader->metadata();
    starts = reader->workload_starts();
  }
};

Trace fixture(const std::string& name, const ImportOptions& options = {}) {
  return Trace(open_trace(std::filesystem::path(OMEN_TELEMETRY_FIXTURES) / name, options));
}

TEST(Imports, MpstatWithAllCoresPastMidnight) {
  Trace trace = fixture("mpstat_24h.txt");
  EXPECT_EQ(trace.metadata["imported_from"], "mpstat");
  EXPECT_THAT(trace.series["cpu.busy_percent -1"], ElementsAre(Pair(1, 13.5), Pair(2, 50)));
  EXPECT_THAT(trace.series["cpu.busy_percent 0"], ElementsAre(Pair(1, 22), Pair(2, 100)));
  EXPECT_THAT(trace.series["cpu.softirq_percent 0"], ElementsAre(Pair(1, 1), Pair(2, 0)));
  EXPECT_THAT(trace.series["cpu.iowait_percent 1"], ElementsAre(Pair(1, 2), Pair(2, 0)));
  EXPECT_EQ(trace.metadata.count("skipped_lines"), 0u);
}

TEST(Imports, MpstatOfAnOldVersionWithAmPmAndDecimalCommas) {
  Trace trace = fixture("mpstat_12h_comma.txt");
  EXPECT_THAT(trace.series["cpu.usr_percent -1"], ElementsAre(Pair(1, 1.5), Pair(2, 3)));
  EXPECT_THAT(trace.series["cpu.sys_percent -1"], ElementsAre(Pair(1, 2.5), Pair(2, 1)));
  EXPECT_THAT(trace.series["cpu.busy_percent -1"], ElementsAre(Pair(1, 4), Pair(2, 4)));
  EXPECT_THAT(trace.series["sys.interrupts_per_s -1"], ElementsAre(Pair(1, 120), Pair(2, 130)));
  EXPECT_EQ(trace.metadata["skipped_lines"], "1");
}

TEST(Imports, NvidiaSmiWithUnitsAndMissingValues) {
  Trace trace = fixture("nvidia_smi.csv");
  EXPECT_EQ(trace.metadata["imported_from"], "nvidia-smi");
  EXPECT_THAT(trace.series["gpu.util_percent 0"], ElementsAre(Pair(0, 95), Pair(1, 97)));
  EXPECT_THAT(trace.series["gpu.util_percent 1"], ElementsAre(Pair(0.004, 3)));
  EXPECT_THAT(trace.series["gpu.mem_used_bytes 0"],
              ElementsAre(Pair(0, 1073741824.0), Pair(1, 1073741824.0)));
  EXPECT_THAT(trace.series["gpu.power_w 1"], ElementsAre(Pair(1.004, 55)));
  EXPECT_THAT(trace.series["gpu.temperature_c 0"], ElementsAre(Pair(0, 61), Pair(1, 62)));
}

TEST(Imports, NvidiaSmiWithoutAnIndexNumbersDevicesByIdentity) {
  Trace trace = fixture("nvidia_smi_uuid.csv");
  EXPECT_THAT(trace.series["gpu.power_w 0"], ElementsAre(Pair(0, 10), Pair(2.5, 11)));
  EXPECT_THAT(trace.series["gpu.power_w 1"], ElementsAre(Pair(0, 20)));
}

TEST(Imports, DmonWithoutAClockCountsSamples) {
  Trace trace = fixture("dmon.txt");
  EXPECT_EQ(trace.metadata["imported_from"], "dmon");
  EXPECT_THAT(trace.series["gpu.power_w 0"], ElementsAre(Pair(0, 71), Pair(1, 88)));
  EXPECT_THAT(trace.series["gpu.util_percent 1"], ElementsAre(Pair(0, 0)));
  EXPECT_THAT(trace.series["gpu.mem_temperature_c 0"], IsEmpty());
  Trace slow = fixture("dmon.txt", {.period_s = 5});
  EXPECT_THAT(slow.series["gpu.clock_sm_mhz 0"], ElementsAre(Pair(0, 1200), Pair(5, 1500)));
}

TEST(Imports, DmonWithDateAndTime) {
  Trace trace = fixture("dmon_time.txt");
  EXPECT_THAT(trace.series["gpu.power_w 0"], ElementsAre(Pair(0, 71), Pair(2, 72)));
  EXPECT_THAT(trace.series["gpu.pcie_rx_bytes_per_s 0"],
              ElementsAre(Pair(0, 10485760), Pair(2, 11534336)));
}

TEST(Imports, WandbHistoryAndPanelExport) {
  Trace trace = fixture("wandb.csv");
  EXPECT_THAT(trace.series["gpu.util_percent 0"], ElementsAre(Pair(0, 80), Pair(2, 82)));
  EXPECT_THAT(trace.series["gpu.util_percent 1"], ElementsAre(Pair(0, 10)));
  EXPECT_THAT(trace.series["gpu.power_w 0"], ElementsAre(Pair(0, 200.5), Pair(2, 201.5)));
  EXPECT_THAT(trace.series["proc.rss_bytes -1"],
              ElementsAre(Pair(0, 512 * 1048576.0), Pair(2, 513 * 1048576.0)));
  EXPECT_THAT(trace.series["cpu.busy_percent 1"], ElementsAre(Pair(0, 33.5), Pair(2, 34.5)));
  EXPECT_THAT(trace.series["import.system.disk.out -1"], ElementsAre(Pair(0, 7), Pair(2, 8)));
  EXPECT_EQ(trace.starts[0], 1706704496'500000000LL);
  Trace panel = fixture("wandb_export.csv");
  EXPECT_THAT(panel.series["gpu.temperature_c 0"], ElementsAre(Pair(0, 61), Pair(15, 62)));
  EXPECT_THAT(panel.starts, IsEmpty()) << "a relative time is no date";
}

TEST(Imports, PsutilLogger) {
  Trace trace = fixture("psutil.csv");
  EXPECT_THAT(trace.series["cpu.busy_percent -1"], ElementsAre(Pair(0, 50.5), Pair(0.5, 60.5)));
  EXPECT_THAT(trace.series["mem.used_percent -1"], ElementsAre(Pair(0, 40), Pair(0.5, 41)));
  EXPECT_THAT(trace.series["proc.rss_bytes -1"], ElementsAre(Pair(0, 1048576), Pair(0.5, 2097152)));
  EXPECT_THAT(trace.series["import.my_counter -1"], ElementsAre(Pair(0, 3), Pair(0.5, 4)));
  EXPECT_EQ(trace.starts[0], 1706702400'000000000LL);
}

TEST(Imports, TraceWithoutTimeNeedsAPeriod) {
  const Error error = thrown_by([] { fixture("utilisation.csv"); });
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("has no column with a time"));
  EXPECT_THAT(error.hint(), HasSubstr("period_s=1"));
  Trace trace = fixture("utilisation.csv", {.period_s = 0.25});
  EXPECT_THAT(trace.series["gpu.util_percent 0"], ElementsAre(Pair(0, 0), Pair(0.25, 95)));
  EXPECT_THAT(trace.series["gpu.mem_used_bytes 0"],
              ElementsAre(Pair(0, 10 * 1048576.0), Pair(0.25, 7800 * 1048576.0)));
  EXPECT_THAT(trace.series["cpu.busy_percent -1"], ElementsAre(Pair(0, 5.5), Pair(0.25, 25)));
}

TEST(Imports, LongFormKeepsWorkloadsAndDevices) {
  Trace trace = fixture("long.csv");
  EXPECT_THAT(trace.series["gpu.power_w 0"], ElementsAre(Pair(0, 100), Pair(1, 110)));
  EXPECT_THAT(trace.series["gpu.power_w 1"], ElementsAre(Pair(0, 120)));
  EXPECT_EQ(trace.last_workload, 1);
}

TEST(Imports, PowerMeterWithMarksAndFailedReadings) {
  Trace trace = fixture("ptdaemon.log");
  EXPECT_THAT(trace.series["meter.power_w 0"], ElementsAre(Pair(0, 251.25), Pair(1, 300.5)));
  EXPECT_THAT(trace.series["meter.power_factor 0"],
              ElementsAre(Pair(0, 0.99), Pair(1, 0.99), Pair(2, 0.99)));
  EXPECT_THAT(trace.series["mark.run_1 -1"], ElementsAre(Pair(1, 1)));
  EXPECT_EQ(trace.metadata["skipped_lines"], "1");
}

TEST(Imports, NonsenseIsRefusedWithTheFormatsThatExist) {
  test::TempTree tree;
  tree.write("x.txt", "the quick brown fox\n");
  const Error unknown = thrown_by([&] { open_trace(tree / "x.txt"); });
  EXPECT_EQ(unknown.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(unknown.hint(), HasSubstr("PTDaemon"));
  EXPECT_EQ(thrown_by([&] { open_trace(tree / "none.csv"); }).code(), OMEN_IO);
  const Error forced = thrown_by([&] {
    const auto reader = open_trace(tree / "x.txt", {.format = "mpstat"});
    std::vector<LogRow> rows;
    reader->next(rows);
  });
  EXPECT_THAT(forced.what(), HasSubstr("has no line of the format mpstat"));
}

TEST(Moments, EveryFormThatTheToolsWrite) {
  const std::int64_t date = 1706704496;  // 2024-01-31 12:34:56
  for (const char* text :
       {"2024/01/31 12:34:56", "2024-01-31T12:34:56Z", "01-31-2024 12:34:56.000",
        "2024-01-31 14:34:56+02:00", "2024-01-31 07:04:56-05:30", "1706704496", "1706704496000"}) {
    const auto moment = parse_moment(text);
    ASSERT_TRUE(moment) << text;
    EXPECT_EQ(moment->ns, date * kNsPerSecond) << text;
  }
  EXPECT_EQ(parse_moment("12:00:01 AM")->ns, kNsPerSecond);
  EXPECT_EQ(parse_moment("12:00:01 PM")->ns, (12 * 3600 + 1) * kNsPerSecond);
  EXPECT_TRUE(parse_moment("12:00:01")->is_clock);
  for (const char* text : {"", "noon", "12:61:00", "2024/13/01 00:00:00", "2024-01-31 25:00:00",
                           "1e300", "::", "2024-01-31T"})
    EXPECT_FALSE(parse_moment(text)) << text;
}

}  // namespace
}  // namespace omen::telemetry
