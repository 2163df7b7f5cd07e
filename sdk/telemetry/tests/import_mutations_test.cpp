// SPDX-License-Identifier: Apache-2.0
// Damaged traces of other tools: every importer reads what is left or names the file and the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "omen/telemetry/imports.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct TraceFixture {
  const char *file, *format;
  double period_s = 0;
};
constexpr TraceFixture kFixtures[] = {{"mpstat_24h.txt", "mpstat"},
                                      {"mpstat_12h_comma.txt", "mpstat"},
                                      {"nvidia_smi.csv", "nvidia-smi"},
                                      {"nvidia_smi_uuid.csv", "nvidia-smi"},
                                      {"dmon.txt", "dmon"},
                                      {"dmon_time.txt", "dmon"},
                                      {"wandb.csv", "csv"},
                                      {"wandb_export.csv", "csv"},
                                      {"psutil.csv", "csv"},
                                      {"long.csv", "csv"},
                                      {"utilisation.csv", "csv", 0.2},
                                      {"ptdaemon.log", "ptdaemon"}};

std::string text_of(const char* file) {
  std::ifstream in(std::filesystem::path(OMEN_TELEMETRY_FIXTURES) / file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Reads everything; rows must be numbers at a time that fits.
std::int64_t read_all(const std::filesystem::path& path, const TraceFixture& fixture) {
  const RowReaderPtr reader = open_trace(path, {fixture.format, fixture.period_s});
  std::int64_t count = 0;
  std::vector<LogRow> rows;
  while (reader->next(rows))
    for (const LogRow& row : rows) {
      ++count;
      EXPECT_TRUE(std::isfinite(row.sample.value));
      EXPECT_GE(row.sample.device, Sample::kWholeMachine);
      EXPECT_LT(static_cast<std::size_t>(row.sample.metric), reader->metrics().size());
    }
  return count;
}

// True where it was read; otherwise the error must say what a person needs.
bool survives(const test::TempTree& tree, const TraceFixture& fixture, const std::string& text) {
  tree.write("damaged.txt", text);
  try {
    EXPECT_GT(read_all(tree / "damaged.txt", fixture), 0) << "no rows and no error";
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("damaged.txt"), HasSubstr("line")));
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return false;
  }
}

std::string replaced(std::string text, std::size_t at, std::size_t count, const std::string& by) {
  return text.replace(std::min(at, text.size()), count, by);
}

class ImportMutations : public ::testing::TestWithParam<TraceFixture> {};

constexpr std::size_t kMost = 40;  // of each kind of damage to each file

TEST_P(ImportMutations, CutAnywhere) {
  const test::TempTree tree;
  const std::string text = text_of(GetParam().file);
  ASSERT_TRUE(survives(tree, GetParam(), text)) << "the fixture itself must be fine";
  for (std::size_t i = 0; i < kMost; ++i)
    survives(tree, GetParam(), text.substr(0, i * text.size() / kMost));
}

// Where every number of a text begins and ends.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
  constexpr const char* kDigits = "0123456789.";
  std::vector<std::pair<std::size_t, std::size_t>> places;
  std::size_t at = text.find_first_of("0123456789");
  while (at != std::string::npos) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    places.emplace_back(at, end);
    at = text.find_first_of("0123456789", end);
  }
  return places;
}

TEST_P(ImportMutations, NumbersOutOfAllBounds) {
  const test::TempTree tree;
  const std::string text = text_of(GetParam().file);
  const auto places = numbers_in(text);
  constexpr const char* kNumbers[] = {"1e308",
                                      "-1e308",
                                      "99999999999999999999",
                                      "-99999999999",
                                      "9223372036854775807",
                                      "2147483648",
                                      "nan",
                                      "inf",
                                      "-0",
                                      "1e-400",
                                      "0x10",
                                      "999999/99/99 99:99:99",
                                      "32767-12-31 23:59:59",
                                      "2024-01-31 00:00:00+2000000000:00",
                                      ""};
  // A step that shares no factor with the numbers meets every number and every place.
  for (std::size_t i = 0; i < kMost * 2; ++i) {
    const auto& [begin, end] = places[i * 7 % places.size()];
    survives(tree, GetParam(),
             replaced(text, begin, end - begin, kNumbers[i % std::size(kNumbers)]));
  }
}

TEST_P(ImportMutations, RandomDamage) {
  const test::TempTree tree;
  const std::string text = text_of(GetParam().file);
  std::mt19937_64 random(20'240'131);
  const std::string bytes = ",\"\n\r\t #:-+.%/eE'\\\x7f\xff\xc3;[]";
  std::size_t read = 0;
  for (std::size_t round = 0; round < kMost; ++round) {
    std::string damaged = text;
    for (std::uint64_t i = 0, count = 1 + random() % 4; i < count; ++i) {
      const std::size_t at = random() % (damaged.size() + 1), length = random() % 12;
      switch (random() % 4) {
        case 0:
          damaged = replaced(damaged, at, length, std::string(1, bytes[random() % bytes.size()]));
          break;
        case 1:
          damaged = replaced(damaged, at, length, "");
          break;
        case 2:
          damaged = replaced(damaged, at, 0, damaged.substr(at / 2, length * 8));
          break;
        default:
          damaged = replaced(damaged, at, 1, std::string(1, static_cast<char>(1 + random() % 255)));
      }
    }
    if (survives(tree, GetParam(), damaged)) ++read;
  }
  EXPECT_GT(read, kMost / 6) << "a little damage must not cost the whole trace";
}

TEST_P(ImportMutations, BinaryAndEndlessLinesAreRefused) {
  const test::TempTree tree;
  const std::string text = text_of(GetParam().file);
  tree.write("damaged.txt", text + std::string("\0\1\2", 3) + "\n");
  EXPECT_THAT(thrown_by([&] { read_all(tree / "damaged.txt", GetParam()); }).what(),
              HasSubstr("holds binary data"));
  tree.write("damaged.txt", text + std::string((1 << 20) + 1, 'x'));
  EXPECT_THAT(thrown_by([&] { read_all(tree / "damaged.txt", GetParam()); }).what(),
              HasSubstr("is longer than"));
}

INSTANTIATE_TEST_SUITE_P(All, ImportMutations, ::testing::ValuesIn(kFixtures),
                         [](const auto& info) {
                           std::string name = info.param.file;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST(ImportErrors, NameTheLine) {
  const test::TempTree tree;
  tree.write("a.csv", "\nname,value\n1,2\n");
  EXPECT_THAT(thrown_by([&] {
                read_all(tree / "a.csv", {"", "csv"});
              }).what(),
              HasSubstr("a.csv' line 2 has no column with a time"));
  tree.write("b.csv", "index, power.draw [W]\n0, 50 W\n");
  EXPECT_THAT(thrown_by([&] {
                read_all(tree / "b.csv", {"", "nvidia-smi"});
              }).what(),
              HasSubstr("line 1 has no column 'timestamp'"));
  tree.write("c.txt", "# gpu pwr\n# Idx W\n0 x y\nnonsense\n");
  EXPECT_THAT(thrown_by([&] {
                read_all(tree / "c.txt", {"", "dmon"});
              }).what(),
              HasSubstr("line 3 is '0 x y'"));
  tree.write("d.txt", "");
  EXPECT_THAT(thrown_by([&] {
                read_all(tree / "d.txt", {"", "ptdaemon"});
              }).what(),
              HasSubstr("it ends before line 1"));
}

TEST(ImportErrors, TheFirstLineLeftOutIsNamed) {
  const test::TempTree tree;
  tree.write("a.csv", "t,gpu.0.gpu\n0,50\nbroken\n1,60\nworse\n");
  const RowReaderPtr reader = open_trace(tree / "a.csv");
  std::vector<LogRow> rows;
  while (reader->next(rows)) {
  }
  EXPECT_EQ(reader->metadata().at("skipped_lines"), "2");
  EXPECT_EQ(reader->metadata().at("first_skipped_line"), "3");
}

}  // namespace
}  // namespace omen::telemetry
