// SPDX-License-Identifier: Apache-2.0
// Imports that say the line of a mistake, and replace all or nothing.
#include "data/import.hpp"

#include <gmock/gmock.h>

#include "data/key_check.hpp"
#include "omen/testing/errors.hpp"
#include "support/data_directory.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using test::data::dataset_files_in;
using test::data::write;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DataImport : public test::data::Data {};

TEST_F(DataImport, ImportsWithEverySmallOddity) {
  ImportPlan plan;
  plan.info.targets = {parse_target("time:ms:lower")};
  plan.info.group = "net";
  plan.renames = {{"Time (ms)", "time"}};
  plan.text = {"code"};
  plan.key = {"net", "code"};
  const DatasetInfo info = import(
      "\xEF\xBB\xBFnet,code,Time (ms),note\r\nvgg,007,1.5,\"two\nlines\"\r\nvgg,8,,\"say "
      "\"\"so\"\"\"\r\n",
      plan);
  EXPECT_EQ(info.rows.at("workloads"), 2);
  const Tables tables = load_dataset(read_dataset_info(dir_.path() / "imported"));
  const Table& rows = tables.at("workloads");
  EXPECT_EQ(rows.strings("code")[0], "007");
  EXPECT_EQ(rows.strings("note")[0], "two\nlines");
  EXPECT_EQ(rows.strings("note")[1], "say \"so\"");
  EXPECT_TRUE(rows.is_null(rows.index("time"), 1));
  EXPECT_FALSE(rows.has("omen.line"));
}

TEST_F(DataImport, ImportErrorsSayTheLine) {
  const auto complains = [&](const std::string& text, const std::string& what, ImportPlan plan = {},
                             const char* suffix = ".csv") {
    EXPECT_THAT(error_of([&] { import(text, plan, suffix); }),
                IsError(OMEN_INVALID_DATA, HasSubstr(what)))
        << text;
    EXPECT_FALSE(fs::exists(dir_.path() / "imported"));
    EXPECT_THAT(dataset_files_in(dir_.path()), ElementsAre("in" + std::string(suffix)));
    fs::remove(dir_.path() / ("in" + std::string(suffix)));
  };
  ImportPlan keyed;
  keyed.key = {"a", "b"};
  ImportPlan timed;
  timed.info.targets = {parse_target("a")};
  ImportPlan quantity;
  quantity.info.targets = {parse_target("a:ms")};
  ImportPlan numeric;
  numeric.numbers = {"a"};
  ImportPlan renamed;
  renamed.renames = {{"a", "b"}};
  ImportPlan grouped;
  grouped.info.group = "netwrk";

  complains("a,b\n1,x\n1,\"y\nz\"\n1,x\n", "in.csv:2 already", keyed);
  complains("a\n1\n\nNaN\n", "in.csv:4: target 'a' is NaN", timed);
  complains("a\n1.5\n-inf\n", "in.csv:3: target 'a' is infinite", timed);
  complains("a\n1\n\n\nx\n", "in.csv:5: 'x' is not a number, and target 'a' is in ms", quantity);
  complains("a,b\n1,2\n3\n", "in.csv:3:1: row has 1 fields");
  complains("a\n1\nx\n", "in.csv:3:1: 'x' is not a number", numeric);
  complains("a,b\n1,2\n", "two columns the same name", renamed);
  complains("network,b\n1,2\n", "group 'netwrk' is no column", grouped);
  complains("a,b\n", "holds no rows");
  complains("workload_id\n1\n1\n", "in.csv:3: workload_id does not rise");
  complains("{\"a\": 1}\n{\"a\": 2, \"b\": 3}\n{\"a\": NaN}\n", "in.jsonl:3: target 'a' is NaN",
            timed, ".jsonl");
  complains("{\"a\": 1}\n{\"a\": \"x\"}\n", "in.jsonl:2:7: member 'a'", {}, ".jsonl");
}

TEST_F(DataImport, ImportsSeveralFilesOfTheSameColumns) {
  write(dir_.path() / "a.tsv", "x\ty\n1\ta\n");
  write(dir_.path() / "b.tsv", "x\ty\n2\tb\n3\ta\n");
  write(dir_.path() / "c.tsv", "x\tz\n2\tb\n");
  ImportPlan plan;
  plan.info.name = "many";
  const auto path = [&](const char* name) { return (dir_.path() / name).string(); };
  const DatasetInfo info =
      import_tables(plan, {path("a.tsv"), path("b.tsv")}, dir_.path() / "many");
  EXPECT_EQ(info.rows.at("workloads"), 3);
  EXPECT_THAT(error_of([&] {
                import_tables(plan, {path("a.tsv"), path("c.tsv")}, dir_.path() / "other");
              }),
              IsError(OMEN_INVALID_DATA, HasSubstr("c.tsv has other columns")));
  plan.key = {"y"};
  EXPECT_THAT(error_of([&] {
                import_tables(plan, {path("a.tsv"), path("b.tsv")}, dir_.path() / "other");
              }),
              IsError(OMEN_INVALID_DATA, AllOf(HasSubstr("b.tsv:3: the key of this row stands in"),
                                               EndsWith("a.tsv:2 already"))));
  EXPECT_THAT(error_of([&] { import_tables(plan, {path("x.bin")}, dir_.path() / "other"); }),
              IsError(OMEN_IO, HasSubstr("cannot open")));
}

TEST_F(DataImport, AnImportReplacesAllOrNothing) {
  import("a\n1\n");
  const std::string before = read_dataset_info(dir_.path() / "imported").digest;
  EXPECT_TRUE(error_of([&] { import("a\n1\n2,3\n"); }).has_value());
  EXPECT_EQ(read_dataset_info(dir_.path() / "imported").digest, before);
  import("a\n1\n2\n");
  EXPECT_NE(read_dataset_info(dir_.path() / "imported").digest, before);
  verify_dataset(read_dataset_info(dir_.path() / "imported"));
}

TEST_F(DataImport, NothingButADatasetIsReplaced) {
  write(dir_.path() / "imported/precious.txt", "kept");
  EXPECT_THAT(error_of([&] { import("a\n1\n"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("exists and is no dataset")));
  EXPECT_TRUE(fs::exists(dir_.path() / "imported/precious.txt"));
}

TEST(KeyCheck, FindsTheFirstRepetitionAcrossRuns) {
  const test::TempDir dir;
  for (const std::size_t run : {1000u, 7u}) {
    KeyCheck keys(dir.path(), run);
    for (std::int64_t i = 0; i < 500; ++i) keys.add("key " + std::to_string(i), i + 2);
    keys.add("key 400", 900);
    keys.add("key 30", 901);
    keys.add("key 30", 902);
    const auto found = keys.find_duplicate();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->first_line, 402);
    EXPECT_EQ(found->line, 900);
  }
  KeyCheck distinct(dir.path(), 8);
  for (std::int64_t i = 0; i < 3000; ++i)
    distinct.add(std::string(static_cast<std::size_t>(i), 'x'), i);
  EXPECT_FALSE(distinct.find_duplicate().has_value());
  EXPECT_THAT(dataset_files_in(dir.path()), IsEmpty());
}

}  // namespace
}  // namespace omen::host
