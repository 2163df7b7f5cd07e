// SPDX-License-Identifier: Apache-2.0
// Tables written batch by batch: the same file as a whole table gives, in bounded memory.
#include "omen/table_writer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "omen/container.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::container {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> table_writer_files_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(directory))
    names.push_back(item.path().filename());
  return names;
}

// Every type, nulls that start late, a '#' in a name, metadata.
Table everything(std::int64_t rows) {
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::vector<float> lists;
  std::vector<std::int32_t> integer_lists;
  std::vector<std::int8_t> small;
  std::vector<bool> flags, present;
  std::vector<std::string> categories, texts;
  for (std::int64_t i = 0; i < rows; ++i) {
    integers.push_back(i * i);
    numbers.push_back(static_cast<double>(i) / 7);
    small.push_back(static_cast<std::int8_t>(i));
    flags.push_back(i % 3 == 0);
    present.push_back(i < 20 || i % 4 != 0);
    categories.push_back("category " + std::to_string(i % 5));
    texts.push_back("text \xC3\xA4 " + std::to_string(i));
    for (int k = 0; k < 3; ++k) lists.push_back(static_cast<float>(i + k));
    for (int k = 0; k < 2; ++k) integer_lists.push_back(static_cast<std::int32_t>(i - k));
  }
  TableBuilder builder;
  builder.metadata("omen.dialect", "test/1");
  builder.add("integers", integers, {{"omen.unit", "ms"}}).add("numbers", numbers).valid(present);
  builder.add("small#1", small);
  builder.add_bools("flags", flags).valid(present);
  builder.add_categories("categories", categories).valid(present);
  builder.add_strings("texts", texts).valid(present);
  builder.add_list("lists", 3, lists).add_list("integer_lists", 2, integer_lists);
  return builder.finish();
}

std::string whole(const Table& table, const fs::path& path) {
  Writer writer;
  put_table(writer, "rows", table);
  writer.write(path);
  return bytes_of(path);
}

TEST(TableWriter, WritesTheSameBytesAsAWholeTable) {
  const test::TempDir dir;
  const Table table = everything(101);
  const std::string expected = whole(table, dir.path() / "whole.omt");
  for (const std::int64_t step : {1, 7, 64, 101}) {
    TableWriter writer(dir.path() / "parts.omt", "rows");
    for (std::int64_t at = 0; at < table.rows(); at += step)
      writer.append(table.slice(at, std::min(step, table.rows() - at)));
    EXPECT_EQ(writer.rows(), 101);
    writer.finish();
    EXPECT_EQ(bytes_of(dir.path() / "parts.omt"), expected) << "batches of " << step;
  }
  const Reader reader = Reader::open(dir.path() / "parts.omt");
  reader.verify_digest();
  EXPECT_EQ(get_table(reader, "rows").rows(), 101);
}

TEST(TableWriter, ATableWithoutRowsKeepsItsColumns) {
  const test::TempDir dir;
  const Table table = everything(0);
  const std::string expected = whole(table, dir.path() / "whole.omt");
  TableWriter writer(dir.path() / "none.omt", "rows");
  writer.append(table);
  writer.finish();
  EXPECT_EQ(bytes_of(dir.path() / "none.omt"), expected);
}

TEST(TableWriter, ALargeDictionaryBecomesText) {
  const test::TempDir dir;
  const std::int64_t rows = 5000;
  std::vector<std::string> names, groups;
  std::vector<bool> present;
  for (std::int64_t i = 0; i < rows; ++i) {
    names.push_back("name " + std::to_string(i * 31));
    groups.push_back(i % 2 ? "odd" : "even");
    present.push_back(i % 10 != 3);
  }
  TableBuilder builder;
  builder.add_categories("name", names).valid(present).add_categories("group", groups);
  const Table table = builder.finish();
  TableWriter writer(dir.path() / "t.omt", "rows", 100'000);
  for (std::int64_t at = 0; at < rows; at += 500) writer.append(table.slice(at, 500));
  writer.finish();
  const Table back = get_table(Reader::open(dir.path() / "t.omt"), "rows");
  EXPECT_EQ(back.type(0), Type::kUtf8);
  EXPECT_EQ(back.type(1), Type::kDictionary) << "only the largest one has to go";
  const StringColumn text = back.strings("name");
  for (std::int64_t i = 0; i < rows; ++i) {
    ASSERT_EQ(text.is_null(i), i % 10 == 3) << i;
    ASSERT_EQ(text[i], text.is_null(i) ? "" : names[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(back.strings("group")[4999], "odd");
}

TEST(TableWriter, RefusesBatchesOfAnotherShape) {
  const test::TempDir dir;
  TableWriter writer(dir.path() / "t.omt", "rows");
  writer.append(TableBuilder().add("a", std::vector<double>{1}).finish());
  for (const Table& other :
       {TableBuilder().add("b", std::vector<double>{1}).finish(),
        TableBuilder().add("a", std::vector<std::int64_t>{1}).finish(), Table()})
    EXPECT_THAT(error_of([&] { writer.append(other); }),
                IsError(OMEN_INVALID_ARGUMENT, HasSubstr("other columns")));
  EXPECT_THAT(error_of([&] { TableWriter(dir.path() / "x.omt", "a/b"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("no table name")));
  EXPECT_THAT(error_of([&] { TableWriter(dir.path() / "missing" / "x.omt", "a"); }),
              IsError(OMEN_IO, HasSubstr("cannot create")));
}

TEST(TableWriter, RefusesTextThatIsNotUtf8) {
  const test::TempDir dir;
  TableWriter writer(dir.path() / "t.omt", "rows");
  EXPECT_THAT(
      error_of([&] { writer.append(TableBuilder().add_categories("a", {"\xFF"}).finish()); }),
      IsError(OMEN_INVALID_ARGUMENT, HasSubstr("UTF-8")));
}

TEST(TableWriter, SaysAtOnceThatTheNamesOfTheColumnsDoNotFit) {
  const test::TempDir dir;
  TableWriter writer(dir.path() / "t.omt", "rows");
  const std::string name(std::size_t{60} << 20, 'n');  // stands in the header twice
  EXPECT_THAT(
      error_of([&] { writer.append(TableBuilder().add(name, std::vector<double>{1}).finish()); }),
      IsError(OMEN_UNSUPPORTED, HasSubstr("'rows' has 1 columns"), HasSubstr("fewer columns")));
}

// A header of 105 MB, of which names and tensors alone are 94.
TEST(TableWriter, TooManyColumnsAreSaidAtOnce) {
  const test::TempDir dir;
  TableWriter writer(dir.path() / "t.omt", "workloads");
  TableBuilder wide;
  const std::string long_name(194, 'n');
  for (int c = 100'000; c < 300'000; ++c)
    wide.add(long_name + std::to_string(c), std::vector<double>{1});
  const Table table = wide.finish();
  EXPECT_THAT(error_of([&] { writer.append(table); }),
              IsError(OMEN_UNSUPPORTED, HasSubstr("'workloads' has 200000 columns"),
                      HasSubstr("fewer columns")));
}

TEST(TableWriter, CanBeStoppedUntilTheFileAppears) {
  const test::TempDir dir;
  std::uintmax_t written = 0;  // when it was asked last
  const auto write = [&](const std::string& name, int calls) {
    TableWriter writer(dir.path() / name, "rows", TableWriter::kTextMemory,
                       [&, left = calls]() mutable {
                         if (--left == 0) throw Error(OMEN_CANCELLED, "enough");
                         for (const auto& item : std::filesystem::directory_iterator(dir.path()))
                           written = std::max(written, item.file_size());
                       });
    writer.append(everything(50));
    writer.finish();
  };
  int calls = 0;
  {
    TableWriter counted(dir.path() / "counted.omt", "rows", TableWriter::kTextMemory,
                        [&calls] { ++calls; });
    counted.append(everything(50));
    counted.finish();
  }
  const std::uintmax_t whole = std::filesystem::file_size(dir.path() / "counted.omt");
  std::filesystem::remove(dir.path() / "counted.omt");
  write("free.omt", calls + 1);
  EXPECT_EQ(written, whole) << "the last question comes when all bytes are there";
  std::filesystem::remove(dir.path() / "free.omt");
  EXPECT_THAT(error_of([&] { write("late.omt", calls); }),
              IsError(OMEN_CANCELLED, HasSubstr("enough")));
  EXPECT_THAT(table_writer_files_in(dir.path()), IsEmpty());
}

TEST(TableWriter, CanBeStoppedBetweenColumns) {
  const test::TempDir dir;
  int left = 1000;
  TableWriter writer(dir.path() / "t.omt", "rows", TableWriter::kTextMemory, [&left] {
    if (--left < 0) throw Error(OMEN_CANCELLED, "enough");
  });
  writer.append(everything(50));
  left = 1;
  EXPECT_THAT(error_of([&] { writer.append(everything(50)); }),
              IsError(OMEN_CANCELLED, HasSubstr("enough")));
  left = 1;
  EXPECT_THAT(error_of([&] { writer.finish(); }), IsError(OMEN_CANCELLED, HasSubstr("enough")));
  EXPECT_THAT(table_writer_files_in(dir.path()), IsEmpty());
}

TEST(TableWriter, LeavesNothingBehindUnlessItIsFinished) {
  const test::TempDir dir;
  {
    TableWriter writer(dir.path() / "t.omt", "rows");
    writer.append(everything(50));
    EXPECT_THAT(table_writer_files_in(dir.path()), IsEmpty());
  }
  EXPECT_THAT(table_writer_files_in(dir.path()), IsEmpty());
  TableWriter writer(dir.path() / "t.omt", "rows");
  writer.append(everything(50));
  writer.finish();
  EXPECT_THAT(table_writer_files_in(dir.path()), UnorderedElementsAre("t.omt"));
}

}  // namespace
}  // namespace omen::container
