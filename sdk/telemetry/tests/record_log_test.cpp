// SPDX-License-Identifier: Apache-2.0
// The log: every row comes back, a cut or damaged tail costs only the tail.
#include "omen/telemetry/record_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using test::Bench;
using ::testing::HasSubstr;

std::vector<LogRow> read_all(LogReader& reader) {
  std::vector<LogRow> all, some;
  while (reader.next(some)) all.insert(all.end(), some.begin(), some.end());
  return all;
}

// A few series whose values take every kind of path through the coder.
std::vector<Sample> make_tick(MetricTable& metrics, int tick, std::mt19937_64& random) {
  const std::int64_t t = tick * 100'000'000LL + static_cast<std::int64_t>(random() % 1000);
  std::vector<Sample> rows{{t, 42, metrics.id("same"), -1, 0},
                           {t, static_cast<double>(tick), metrics.id("counts"), 3, 0},
                           {t, std::bit_cast<double>(random()), metrics.id("any bits"), 0, 77},
                           {t + 5, 1.0 / (tick + 1), metrics.id("later source"), -1, 0}};
  if (tick % 7 == 0)
    rows.push_back({t - 50, 1, metrics.id("mark." + std::to_string(tick % 3)), -1, 0});
  if (tick == 13)
    rows.push_back({t, std::numeric_limits<double>::infinity(), metrics.id("inf"), 9, -1});
  return rows;
}

TEST(RecordLog, EveryRowComesBackBitForBit) {
  Bench bench;
  std::mt19937_64 random(1);
  std::vector<Sample> written;
  LogWriter writer(bench.tree / "log", bench.metrics);
  writer.put_meta("command", "old");
  for (int workload = 0; workload < 2; ++workload) {
    writer.begin_workload(workload, 1'700'000'000'000'000'000 + workload);
    for (int tick = 0; tick < 200; ++tick) {
      const auto rows = make_tick(bench.metrics, tick, random);
      writer.put(rows);
      written.insert(written.end(), rows.begin(), rows.end());
      if (tick % 10 == 9) writer.flush();
    }
  }
  writer.put_meta("command", "new");
  writer.finish();
  EXPECT_EQ(writer.rows(), static_cast<std::int64_t>(written.size()));

  LogReader reader(bench.tree / "log");
  const std::vector<LogRow> read = read_all(reader);
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].workload_id, i < written.size() / 2 ? 0 : 1);
    EXPECT_EQ(read[i].sample.t_ns, written[i].t_ns);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read[i].sample.value),
              std::bit_cast<std::uint64_t>(written[i].value));
    EXPECT_EQ(read[i].sample.device, written[i].device);
    EXPECT_EQ(read[i].sample.pid, written[i].pid);
    EXPECT_EQ(reader.metrics()[static_cast<std::size_t>(read[i].sample.metric)],
              bench.metrics.name(written[i].metric));
  }
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.lost_bytes(), 0);
  EXPECT_EQ(reader.metadata().at("command"), "new");
  EXPECT_EQ(reader.workload_starts().at(1), 1'700'000'000'000'000'001);
}

// Writes ten blocks of one tick each and returns the file's size after each block.
std::vector<std::uintmax_t> write_blocks(Bench& bench) {
  std::mt19937_64 random(2);
  std::vector<std::uintmax_t> sizes;
  LogWriter writer(bench.tree / "log", bench.metrics);
  writer.begin_workload(0, 1);
  for (int tick = 0; tick < 10; ++tick) {
    writer.put(make_tick(bench.metrics, tick, random));
    writer.flush();
    sizes.push_back(std::filesystem::file_size(bench.tree / "log"));
  }
  return sizes;
}

TEST(RecordLog, CutAnywhereKeepsTheWholeBlocksBefore) {
  Bench bench;
  const auto sizes = write_blocks(bench);
  for (std::uintmax_t cut = sizes.back(); cut >= 8; --cut) {
    std::filesystem::resize_file(bench.tree / "log", cut);
    LogReader reader(bench.tree / "log");
    const std::vector<LogRow> rows = read_all(reader);
    std::size_t blocks = 0;
    while (blocks < sizes.size() && sizes[blocks] <= cut) ++blocks;
    const std::int64_t last = rows.empty() ? -1 : rows.back().sample.t_ns / 100'000'000;
    EXPECT_EQ(last, static_cast<std::int64_t>(blocks) - 1) << "cut at " << cut;
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(reader.lost_bytes(),
              static_cast<std::int64_t>(cut - (blocks ? sizes[blocks - 1] : 8)));
  }
}

TEST(RecordLog, FlippedBitEndsTheLogThere) {
  Bench bench;
  const auto sizes = write_blocks(bench);
  std::fstream file(bench.tree / "log", std::ios::in | std::ios::out | std::ios::binary);
  const auto place = static_cast<std::streamoff>(sizes[4] + 20);
  file.seekg(place);
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(place);
  file.put(byte);
  file.close();
  LogReader reader(bench.tree / "log");
  const std::vector<LogRow> rows = read_all(reader);
  EXPECT_EQ(rows.back().sample.t_ns / 100'000'000, 4);
  EXPECT_GT(reader.lost_bytes(), 0);
}

TEST(RecordLog, ForeignFilesAreRefused) {
  Bench bench;
  bench.tree.write("text", "hello, this is no log");
  EXPECT_FALSE(LogReader::is_log(bench.tree / "text"));
  const Error error = thrown_by([&] { LogReader reader(bench.tree / "text"); });
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("is no recording log"));
  EXPECT_EQ(thrown_by([&] { LogReader reader(bench.tree / "none"); }).code(), OMEN_IO);
  EXPECT_EQ(thrown_by([&] { LogWriter writer(bench.tree / "no/dir/log", bench.metrics); }).code(),
            OMEN_IO);
}

TEST(RecordLog, PayloadWithAGoodChecksumButBadRecordsIsDamaged) {
  // A series that names metric 5 of none; the checksum is right, so only the decoder can object.
  Bench bench;
  const std::string good("OMENLOG1BLK1\x04\x00\x00\x00", 16);
  const std::string payload("\x02\x05\x00\x00", 4);
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : payload) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xEDB88320u ^ (crc >> 1) : crc >> 1;
  }
  crc = ~crc;
  std::string check;
  for (int shift = 0; shift < 32; shift += 8) check.push_back(static_cast<char>(crc >> shift));
  bench.tree.write("log", good + check + payload);
  LogReader reader(bench.tree / "log");
  std::vector<LogRow> rows;
  const Error error = thrown_by([&] { reader.next(rows); });
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("unknown metric"));
}

TEST(RecordLog, UnchangedSeriesTakeTwoBytesARow) {
  Bench bench;
  LogWriter writer(bench.tree / "log", bench.metrics);
  writer.begin_workload(0, 0);
  std::vector<Sample> rows;
  for (int i = 0; i < 100; ++i) rows.push_back({0, 0.1 * i, bench.metrics.id("m"), i, 0});
  for (int tick = 0; tick < 100; ++tick) {
    for (Sample& row : rows) row.t_ns = tick * 100'000'000LL;
    writer.put(rows);
  }
  writer.finish();
  EXPECT_LT(std::filesystem::file_size(bench.tree / "log"), 10'000 * 2 + 3'000u);
}

}  // namespace
}  // namespace omen::telemetry
