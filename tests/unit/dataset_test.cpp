// SPDX-License-Identifier: Apache-2.0
// Dataset directories, and the recipes that make them.
#include "data/dataset.hpp"

#include <gmock/gmock.h>

#include "data/archive.hpp"
#include "data/staging.hpp"
#include "omen/testing/errors.hpp"
#include "support/data_directory.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using test::data::Data;
using test::data::dataset_files_in;
using test::data::write;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(Data, ReadsAndLoadsADirectory) {
  const fs::path directory = dataset(
      "name,a,time\nx,1,2.5\ny,2,3.5\n",
      R"(, "group": "name", "columns": {"time": {"unit": "ms"}}, "targets": ["time:ms:lower"])");
  const DatasetInfo info = find_dataset(directory.string() + "/");
  EXPECT_EQ(info.name, "set");
  EXPECT_EQ(info.unit("time"), "ms");
  EXPECT_EQ(info.unit("a"), "");
  EXPECT_EQ(info.targets.at(0).name, "time");
  EXPECT_EQ(info.digest.size(), 64u);
  verify_dataset(info);
  const Tables tables = load_dataset(info);
  EXPECT_EQ(tables.at("workloads").rows(), 2);
  EXPECT_TRUE(tables.at("workloads").has("workload_id"));
  EXPECT_TRUE(tables.at("workloads").has("group"));
}

TEST_F(Data, SaysWhichFileWasChanged) {
  const fs::path directory = dataset("a\n1\n2\n");
  const DatasetInfo before = read_dataset_info(directory);
  write(directory / "t.csv", "a\n1\n3\n");
  EXPECT_THAT(
      error_of([&] { verify_dataset(before); }),
      IsError(OMEN_INVALID_DATA, AllOf(HasSubstr("t.csv was changed"), HasSubstr("sha256"))));
}

TEST_F(Data, ComplaintsNameFileAndField) {
  const fs::path file = dir_.path() / "set/dataset.json";
  const auto complains = [&](const std::string& json, const std::string& what) {
    write(file, json);
    EXPECT_THAT(error_of([&] { read_dataset_info(dir_.path() / "set"); }),
                IsError(OMEN_INVALID_DATA, AllOf(StartsWith(file.string()), HasSubstr(what))))
        << json;
  };
  complains("{\n  \"name\": }", ":2:11: this is not JSON");
  complains("[]", "is not an object");
  complains(R"({"format_version": 2})", "'format_version' is not 1");
  complains(R"({"format_version": 1, "name": "a", "name": "b"})", "stands twice");
  complains(R"({"format_version": 1, "name": "x", "sumary": ""})", "unknown member 'sumary'");
  complains(R"({"format_version": 1, "name": "x", "files": []})", "no table 'workloads'");
  complains(
      R"({"format_version": 1, "name": "x", "files": [{"file": "../t", "sha256": "", "tables": []}]})",
      "'files[0].file' is '../t', which is not inside");
  complains(
      R"({"format_version": 1, "name": "x", "files": [{"file": "t", "sha256": "12", "tables": []}]})",
      "'files[0].sha256' is not 64");
  EXPECT_THAT(error_of([&] { read_dataset_info(dir_.path() / "nothing"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("no dataset.json"), HasSubstr("omen data import")));
}

TEST_F(Data, IdsMustRise) {
  const DatasetInfo info = read_dataset_info(dataset("workload_id,a\n2,1\n1,1\n"));
  EXPECT_THAT(error_of([&] { load_dataset(info); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("does not rise: row 1 has 1 after 2")));
}

TEST_F(Data, FindsByNameBesideATaskAndInTheCache) {
  const fs::path beside = dir_.path() / "tasks/track";
  fs::create_directories(beside);
  const fs::path set = dataset("a\n1\n");
  fs::create_directories(dir_.path() / "data");
  fs::rename(set, dir_.path() / "data/set");
  EXPECT_EQ(find_dataset("set", beside).directory, dir_.path() / "data/set");
  EXPECT_EQ(find_dataset("../../data/set", beside).name, "set");
  fs::create_directories(dataset_cache());
  fs::rename(dir_.path() / "data/set", dataset_cache() / "set");
  EXPECT_EQ(find_dataset("set").directory, dataset_cache() / "set");
  EXPECT_THAT(error_of([&] { find_dataset("sett"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("'sett' not found"),
                      AllOf(HasSubstr(dataset_cache().string()), HasSubstr("did you mean 'set'"))));
}

// ----------------------------------------------------------------------------------------- recipes

constexpr const char* kJobs =
    "gpu,net,batch,time_s,ok\nA,vgg-11,8,1.5,1\nA,vgg-16,8,2,1\nB,vgg-11,16,,1\nB,net-x,16,4,0\n";

TEST_F(Data, ARecipeJoinsDerivesFiltersAndRenames) {
  raw("jobs.csv", kJobs);
  raw("nets.csv", "id,weights\nvgg-11,10\nvgg-16,20\nvgg-16,20\n");
  const Tables tables = made(R"("tables": {"workloads": {
    "sources": [{"file": "jobs.csv", "add": {"site": "here"}}],
    "joins": [{"file": "nets.csv", "on": {"net": "id"}, "take": {"size": "weights"}}],
    "derive": [{"column": "family", "from": "net", "match": "^([a-z]+)-"},
               {"column": "time_ms", "from": "time_s", "times": 1000},
               {"column": "rate", "from": "batch", "over": "time_s"},
               {"column": "name", "texts": ["gpu", "net"]}],
    "where": [{"column": "ok", "is": ["1"]}, {"column": "gpu", "is_not": ["C"]}],
    "columns": ["name", "family", "site", {"name": "width", "from": "batch"}, "size", "time_ms", "rate"],
    "key": ["name"]}}, "columns": {"time_ms": {"unit": "ms"}}, "targets": ["time_ms:ms:lower"])");
  const Table& rows = tables.at("workloads");
  ASSERT_EQ(rows.rows(), 3);
  EXPECT_EQ(rows.strings("name")[0], "A-vgg-11");
  EXPECT_EQ(rows.strings("family")[1], "vgg");
  EXPECT_EQ(rows.strings("site")[2], "here");
  EXPECT_EQ(rows.numbers("width")[2], 16);
  EXPECT_EQ(rows.numbers("size")[1], 20);
  EXPECT_EQ(rows.numbers("time_ms")[0], 1500);
  EXPECT_EQ(rows.numbers("rate")[1], 4);
  EXPECT_TRUE(rows.is_null(rows.index("time_ms"), 2)) << "nothing was measured";
  EXPECT_FALSE(rows.has("ok"));
}

TEST_F(Data, ARecipeMultipliesColumnsAndChoosesRowsBeforeItDerives) {
  raw("jobs.csv", "net,m,n,k,time_s\nvgg-11,2,3,4,0.5\nbroken,1,1,1,1\nvgg-16,2,2,2,0\n");
  const Tables tables = made(R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}],
    "only": [{"column": "net", "is_not": ["broken"]}],
    "derive": [{"column": "family", "from": "net", "match": "^([a-z]+)-"},
               {"column": "flops", "product": ["m", "n", "k"], "times": 2},
               {"column": "rate", "product": ["m", "n", "k"], "times": 2, "over": ["time_s"]},
               {"column": "shape", "from": "m", "over": ["n", "k"]}]}})");
  const Table& rows = tables.at("workloads");
  ASSERT_EQ(rows.rows(), 2) << "the broken row would not match";
  EXPECT_EQ(rows.numbers("flops")[0], 48);
  EXPECT_EQ(rows.numbers("rate")[0], 96);
  EXPECT_TRUE(rows.is_null(rows.index("rate"), 1)) << "nothing per no time";
  EXPECT_EQ(rows.numbers("shape")[1], 0.5);
}

TEST_F(Data, ARecipeJoinsFiguresOfDevicesByName) {
  raw("jobs.csv", "gpu,t\nTesla V100-SXM2-16GB,1\ngtx1080,2\n");
  raw("unknown.csv", "gpu,t\nGTX 1090,1\n");
  const auto with = [](const std::string& step, const std::string& file = "jobs.csv") {
    return R"("tables": {"workloads": {"sources": [{"file": ")" + file + R"("}], "devices": [)" +
           step + "]}}";
  };
  const Tables tables = made(with(
      R"({"on": "gpu", "take": {"bandwidth": "bandwidth_bytes_per_s", "half": "fp16_flops"}})"));
  const Table& rows = tables.at("workloads");
  EXPECT_EQ(rows.numbers("bandwidth")[0], 9e11);
  EXPECT_TRUE(rows.is_null(rows.index("half"), 1)) << "it was not published";
  EXPECT_THAT(error_of([&] { made(with(R"({"on": "gpu", "take": {"x": "speed"}})")); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("figure 'speed'")));
  EXPECT_THAT(
      error_of([&] { made(with(R"({"on": "gpu", "take": {"x": "tdp_w"}})", "unknown.csv")); }),
      IsError(OMEN_NOT_FOUND, HasSubstr("'GTX 1090'"), HasSubstr("GTX 1080")));
}

TEST_F(Data, ARecipeMakesCandidatesOfRows) {
  raw("jobs.csv", "net,batch,gpu,price,time\nvgg,8,A,2,10\nvgg,8,B,1,20\nvgg,16,A,2,\n");
  const Tables tables = made(R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}]}},
    "candidates": {"cost": "time", "by": ["net", "batch"], "name": "gpu", "columns": ["price"]})");
  const Table& candidates = tables.at("candidates");
  EXPECT_EQ(tables.at("workloads").rows(), 2);
  EXPECT_FALSE(tables.at("workloads").has("price"));
  EXPECT_FALSE(tables.at("workloads").has("time"));
  ASSERT_EQ(candidates.rows(), 3);
  EXPECT_EQ(candidates.numbers("candidate_id")[1], 1);
  EXPECT_EQ(candidates.numbers("workload_id")[2], 1);
  EXPECT_EQ(candidates.strings("name")[1], "B");
  EXPECT_EQ(candidates.numbers("price")[1], 1);
  EXPECT_EQ(tables.at("candidate_costs").numbers("time")[1], 20);
  EXPECT_TRUE(tables.at("candidate_costs").is_null(2, 2));
  EXPECT_THAT(error_of([&] {
                made(R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}]}},
                        "candidates": {"cost": "time", "by": ["net"]})");
              }),
              IsError(OMEN_INVALID_DATA, HasSubstr("needs 'name' with 'by'")));
}

TEST_F(Data, ARecipeDerivesSharesAndTheirNearestMark) {
  raw("jobs.csv", "cpu,gpu\n1,3\n99,1\n,2\n");
  const Tables tables = made(R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}],
    "derive": [{"column": "share", "from": "gpu", "percent_with": "cpu"},
               {"column": "mark", "from": "share", "nearest": ["0", "50", "100"]}]}})");
  const Table& rows = tables.at("workloads");
  EXPECT_EQ(rows.numbers("share")[0], 75);
  EXPECT_EQ(rows.numbers("share")[1], 1);
  EXPECT_TRUE(rows.is_null(rows.index("share"), 2));
  EXPECT_EQ(rows.strings("mark")[0], "50") << "the first of two that are equally near";
  EXPECT_EQ(rows.strings("mark")[1], "0");
}

TEST_F(Data, ArchivesAreUnpackedForAsLongAsTheyAreNeeded) {
  write(dir_.path() / "in/b/x.txt", "x");
  write(dir_.path() / "in/a.txt", "a");
  const fs::path archive = dir_.path() / "in.tar";
  ASSERT_EQ(
      std::system(("tar -cf " + archive.string() + " -C " + dir_.path().string() + " in").c_str()),
      0);
  fs::path place;
  {
    const UnpackedArchive unpacked(archive);
    place = unpacked.path();
    EXPECT_THAT(unpacked.members(), ElementsAre("in/a.txt", "in/b/x.txt"));
    EXPECT_EQ(fs::file_size(place / "in/a.txt"), 1u);
  }
  EXPECT_FALSE(fs::exists(place));
  write(dir_.path() / "broken.tar", "this is no archive");
  EXPECT_THAT(error_of([&] { UnpackedArchive broken(dir_.path() / "broken.tar"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("tar cannot unpack"), HasSubstr("whole")));
}

TEST_F(Data, ARecipePutsFilesBehindEachOther) {
  raw("a.csv", "x,y\n1,2\n");
  raw("b.csv", ",x,y\n7,1.5,\n");
  const Tables tables = made(R"("tables": {"workloads": {
    "sources": [{"file": "a.csv", "add": {"from": "a"}},
                {"file": "b.csv", "unnamed": "row", "add": {"from": "b"}}],
    "columns": ["x", "y", "from"]}})");
  const Table& rows = tables.at("workloads");
  ASSERT_EQ(rows.rows(), 2) << "the column that only one file has is left out";
  EXPECT_EQ(rows.numbers("x")[1], 1.5);
  EXPECT_TRUE(rows.is_null(rows.index("y"), 1));
  EXPECT_EQ(rows.strings("from")[1], "b");
}

TEST_F(Data, ARecipeMakesCandidatesOfColumns) {
  raw("jobs.csv", "cpu,gpu\n1,2\n5,\n");
  const Tables tables = made(R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}]}},
              "candidates": {"cost": "time", "from": {"CPU": "cpu", "GPU": "gpu"}},
              "targets": ["cpu", "gpu"])");
  EXPECT_EQ(tables.at("candidates").rows(), 4);
  EXPECT_EQ(tables.at("candidates").strings("name")[1], "GPU");
  EXPECT_EQ(tables.at("candidate_costs").numbers("time")[2], 5);
  EXPECT_TRUE(tables.at("candidate_costs").is_null(2, 3));
}

TEST_F(Data, RecipesSayWhatIsWrong) {
  raw("jobs.csv", kJobs);
  raw("twice.csv", "id,w\nvgg-11,1\nvgg-11,2\n");
  const auto complains = [&](const std::string& rest, const std::string& what) {
    EXPECT_THAT(error_of([&] { made(rest); }),
                IsError(OMEN_INVALID_DATA, AllOf(HasSubstr("made.json"), HasSubstr(what))))
        << rest;
  };
  const std::string source = R"("sources": [{"file": "jobs.csv"}])";
  const auto table = [&](const std::string& steps) {
    return R"("tables": {"workloads": {)" + source + ", " + steps + "}}";
  };
  complains(R"("tables": {"workloads": {"sources": [{"file": "other.csv"}]}})",
            "is 'other.csv', which is not among the raw files");
  complains(table(R"("columns": ["nothing"])"), "needs column 'nothing'");
  complains(table(R"("key": ["gpu"])"), "rows 1 and 2 of table 'workloads' have the same key");
  complains(table(R"("where": [{"column": "gpu"}])"), "keeps every row");
  complains(table(R"("where": [{"column": "gpu", "is": ["C"]}])"), "without rows");
  complains(table(R"("derive": [{"column": "a", "from": "net"}])"), "exactly one of");
  complains(table(R"("derive": [{"column": "a", "from": "net", "match": "("}])"),
            "'(' is no regular expression");
  complains(table(R"("derive": [{"column": "a", "from": "net", "match": "^([0-9]+)$"}])"),
            "'vgg-11' of column 'net' does not match");
  complains(table(R"("joins": [{"file": "twice.csv", "on": {"net": "id"}, "take": {"w": "w"}}])"),
            "two things about one key, in rows 1 and 2");
  complains(table(R"("colums": [])"), "unknown member 'colums'");
  complains(table(R"("graphs": {"names": ["{net}"]})"), "no front end makes any");
  complains(table(R"("graphs": {"names": []})"), "has no names to look for");
  complains(table(R"("derive": [{"column": "a", "from": "batch", "nearest": ["few"]}])"),
            "'few' of 'nearest' is no number");
  complains(R"("summary": "no tables")", "stands twice");
}

TEST_F(Data, RawFilesArePinned) {
  raw("jobs.csv", kJobs);
  const std::string rest = R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}]}})";
  const Recipe pinned = recipe(rest);
  write(dir_.path() / "raw/jobs.csv", "gpu\nA\n");
  EXPECT_THAT(error_of([&] { make_dataset(pinned, dir_.path() / "made"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("is not the file that recipe 'made'")));
  fs::remove(dir_.path() / "raw/jobs.csv");
  EXPECT_THAT(error_of([&] { make_dataset(pinned, dir_.path() / "made"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("made from jobs.csv, which is not here"),
                      HasSubstr("OMEN_DATA is")));
  ::unsetenv("OMEN_DATA");
  EXPECT_THAT(error_of([&] { make_dataset(pinned, dir_.path() / "made"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("jobs.csv"), HasSubstr("Set OMEN_DATA")));
  EXPECT_FALSE(fs::exists(dir_.path() / "made"));
  write(raw_cache() / "jobs.csv", kJobs);
  EXPECT_EQ(make_dataset(pinned, dir_.path() / "made").rows.at("workloads"), 4);
}

TEST_F(Data, ARecipeOfATaskLeavesTheUsersDatasetAlone) {
  raw("jobs.csv", kJobs);
  const fs::path beside = dir_.path() / "tasks";
  fs::create_directories(beside);
  DatasetInfo mine;
  mine.name = "made";
  Tables tables;
  tables["workloads"] = TableBuilder().add("x", std::vector<double>{1, 2}).finish();
  const std::string kept = write_dataset_directory(mine, tables, dataset_cache() / "made").digest;
  recipe(R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}]}})");
  const DatasetInfo theirs = find_dataset("made", beside);
  EXPECT_NE(theirs.digest, kept);
  EXPECT_EQ(find_dataset("made", beside).directory, theirs.directory) << "it is made once";
  EXPECT_EQ(read_dataset_info(dataset_cache() / "made").digest, kept);
}

TEST_F(Data, AStoppedReplacementIsMadeUpFor) {
  DatasetInfo info;
  info.name = "set";
  Tables tables;
  tables["workloads"] = TableBuilder().add("x", std::vector<double>{1, 2}).finish();
  const fs::path place = dir_.path() / "sets/set";
  const std::string first = write_dataset_directory(info, tables, place).digest;
  tables["workloads"] = TableBuilder().add("x", std::vector<double>{3}).finish();
  EXPECT_NE(write_dataset_directory(info, tables, place).digest, first);
  EXPECT_THAT(dataset_files_in(dir_.path() / "sets"), ElementsAre("set"))
      << "nothing is left beside it";
  // As a process leaves it that is killed between the two steps.
  fs::rename(place, dir_.path() / "sets/.set.old");
  { const StagedDirectory staged(place); }
  EXPECT_EQ(read_dataset_info(place).rows.at("workloads"), 1);
}

TEST_F(Data, ARecipeIsCarriedOutOnFirstUseAndAgainWhenItChanges) {
  raw("jobs.csv", kJobs);
  const fs::path beside = dir_.path() / "tasks";
  fs::create_directories(beside);
  const std::string steps = R"("tables": {"workloads": {"sources": [{"file": "jobs.csv"}])";
  recipe(steps + "}}");
  const DatasetInfo first = find_dataset("made", beside);
  EXPECT_EQ(first.directory, dataset_cache() / "made");
  fs::remove(dir_.path() / "raw/jobs.csv");
  EXPECT_EQ(find_dataset("made", beside).digest, first.digest) << "what is made needs no raw files";
  write(dir_.path() / "raw/jobs.csv", kJobs);
  recipe(steps + R"(, "columns": ["gpu", "batch"]}})");
  EXPECT_NE(find_dataset("made", beside).digest, first.digest);
  EXPECT_THAT(dataset_files_in(dataset_cache()), ElementsAre("made"))
      << "nothing is left beside it";
}

TEST_F(Data, TheCommittedRecipesAreValid) {
  int count = 0;
  for (const auto& item : fs::directory_iterator(OMEN_TEST_BUILD_DIR "/share/omen/data/recipes")) {
    EXPECT_NO_THROW(read_recipe(item.path())) << item.path();
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(Columns, AreRenamedOverTheSameMemory) {
  TableBuilder builder;
  builder.metadata("k", "v").add("a", std::vector<double>{1, 2}, {{"omen.unit", "ms"}});
  builder.valid({true, false}).add_categories("b", {"x", "y"});
  const Table table = builder.finish();
  const Table renamed = rename_columns(table, {{"a", "time"}, {"nothing", "c"}});
  EXPECT_EQ(renamed.name(0), "time");
  EXPECT_EQ(renamed.name(1), "b");
  EXPECT_EQ(renamed.metadata("k"), "v");
  EXPECT_EQ(renamed.metadata(0, "omen.unit"), "ms");
  EXPECT_EQ(renamed.column<double>("time").data(), table.column<double>("a").data());
  EXPECT_TRUE(renamed.is_null(0, 1));
  const Table one = select(renamed, {"b"});
  EXPECT_EQ(one.strings("b")[1], "y");
}

TEST(Columns, TextsOfNumbersAreExact) {
  TableBuilder builder;
  builder.add("big", std::vector<std::int64_t>{1234567, 1234568});
  builder.add("real", std::vector<double>{0.1, 2}).valid({true, false});
  builder.add_bools("flag", {true, false});
  const Table table = builder.finish();
  EXPECT_THAT(column_texts(table, 0), ElementsAre("1234567", "1234568"));
  EXPECT_THAT(column_texts(table, 1), ElementsAre("0.1", ""));
  EXPECT_THAT(column_texts(table, 2), ElementsAre("true", "false"));
}

}  // namespace
}  // namespace omen::host
