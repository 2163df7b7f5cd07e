// SPDX-License-Identifier: Apache-2.0
// What goes out to a program, and what is said about what comes back.
#include "exchange.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <omen/container.hpp>

#include "omen/testing/ready_run.hpp"
#include "omen/testing/temp_dir.hpp"
#include "trust.hpp"
#include "work_directory.hpp"

namespace omen::external {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void nothing() {}

Table workloads() {
  TableBuilder table;
  table.add("workload_id", std::vector<std::int64_t>{10, 11, 12})
      .add_categories("group", {"a", "b", "a"})
      .add("m", std::vector<std::int32_t>{1, 2, 3})
      .add("n", std::vector<double>{4, 5, 6})
      .valid({true, false, true})
      .add_categories("kind", {"conv", "pool", "conv"})
      .valid({true, true, false})
      .add_bools("fast", {true, false, true});
  return table.finish();
}

// In another order than the workloads.
Table targets() {
  TableBuilder table;
  table.add("workload_id", std::vector<std::int64_t>{12, 10, 11})
      .add("cost", std::vector<double>{30, 10, 20}, {{"omen.unit", "ms"}})
      .add_categories("best", {"gpu", "cpu", "gpu"});
  return table.finish();
}

Tables training() {
  MemoryDataset data;
  data.put("workloads", workloads());
  data.put("targets", targets());
  return plain_tables(data.view(), true, nothing);
}

TEST(Exchange, TablesAreMadePlain) {
  const Tables tables = training();
  const Table& plain = tables.at("workloads");
  EXPECT_TRUE(std::isnan(plain.column<double>("n")[1]));
  EXPECT_FALSE(plain.is_null(plain.index("n"), 1));
  EXPECT_EQ(plain.column<double>("fast")[0], 1);
  EXPECT_EQ(plain.strings("kind")[2], "");
  EXPECT_THAT(tables.at("targets").numbers("cost"), ElementsAre(10, 20, 30));
}

TEST(Exchange, TargetsAreOnlyReadInFit) {
  MemoryDataset data;
  data.put("workloads", workloads());
  data.put("targets", targets());
  EXPECT_EQ(plain_tables(data.view(), false, nothing).count("targets"), 0U);
}

TEST(Exchange, AWorkloadWithoutTargetIsNamed) {
  MemoryDataset data;
  data.put("workloads", workloads());
  data.put("targets", targets().slice(0, 2));
  try {
    plain_tables(data.view(), true, nothing);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("workload 11 has no row in targets"));
  }
}

TEST(Exchange, TheTaskNamesFeaturesLabelsAndTargets) {
  const test::TempDir directory;
  const Tables tables = training();
  const test::ReadyRun run(7);
  write_task(directory / "task.json", "fit", tables, targets_of(tables), run, "{\"x\": 1}");
  const auto json = nlohmann::json::parse(std::ifstream(directory / "task.json"));
  EXPECT_EQ(json["features"], (std::vector<std::string>{"m", "n", "fast"}));
  EXPECT_EQ(json["categories"]["workloads/kind"], (std::vector<std::string>{"conv", "pool", ""}));
  EXPECT_EQ(json["targets"][0]["unit"], "ms");
  EXPECT_EQ(json["targets"][1]["classes"].size(), 2U);
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["rows"], 3);
  EXPECT_EQ(json["task"]["x"], 1);
}

TEST(Exchange, LearntSurvivesTheModel) {
  const Learnt before = targets_of(training());
  const Learnt after = learnt_from_text(to_text(before));
  ASSERT_EQ(after.targets.size(), 2U);
  EXPECT_EQ(after.targets[0].metadata, before.targets[0].metadata);
  EXPECT_EQ(after.targets[1].classes, before.targets[1].classes);
  EXPECT_TRUE(after.targets[1].is_class);
  EXPECT_THROW(learnt_from_text(""), Error);
  const std::string text = to_text(before);
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_THROW(learnt_from_text(text.substr(0, size)), Error) << size;
  EXPECT_THROW(learnt_from_text("nonsense"), Error);
}

// Predictions of one target for workloads 10, 11 and 12.
class Predictions : public ::testing::Test {
 protected:
  template <class T>
  void put(const std::string& name, const std::vector<T>& values) {
    writer.put_tensor(name, dtype_of<T>(), {static_cast<std::int64_t>(values.size())},
                      values.data(), values.size() * sizeof(T));
  }
  Table read() {
    writer.write(directory / kPredictionsFile);
    return read_predictions(directory / kPredictionsFile, learnt, rows, 0.9);
  }
  std::string problem() {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
      EXPECT_NE(error.hint(), "") << error.what();
      return error.what();
    }
    return "no error";
  }

  test::TempDir directory;
  container::Writer writer;
  Learnt learnt{false, {{"cost", {{"omen.unit", "ms"}}, false, {}}}};
  Rows rows{{10, 11, 12}, {}};
};

TEST_F(Predictions, InTheOrderOfTheRows) {
  put<float>("cost", {1, 2, 3});
  put<double>("cost.lo", {0, 1, 2});
  put<double>("cost.hi", {2, 3, 4});
  const Table table = read();
  EXPECT_THAT(table.numbers("cost"), ElementsAre(1, 2, 3));
  EXPECT_EQ(table.metadata(table.index("cost"), "omen.unit"), "ms");
  EXPECT_EQ(table.metadata(table.index("cost.lo"), "omen.level"), "0.9");
  EXPECT_EQ(table.strings("status")[2], "ok");
  EXPECT_THAT(table.numbers("workload_id"), ElementsAre(10, 11, 12));
}

TEST_F(Predictions, ByIdInAnyOrder) {
  put<std::int64_t>("workload_id", {12, 10, 11});
  put<double>("cost", {3, 1, 2});
  EXPECT_THAT(read().numbers("cost"), ElementsAre(1, 2, 3));
}

TEST_F(Predictions, ByCandidate) {
  rows = {{10, 10, 11}, {0, 1, 0}};
  put<std::int64_t>("workload_id", {11, 10, 10});
  put<std::int32_t>("candidate_id", {0, 1, 0});
  put<double>("cost", {3, 2, 1});
  EXPECT_THAT(read().numbers("cost"), ElementsAre(1, 2, 3));
}

TEST_F(Predictions, StatusIsSaidInTheMetadata) {
  put<double>("cost", {1, 2, std::nan("")});
  put<std::int64_t>("status", {0, 1, 7});
  writer.put_meta("status.7", "operation unknown");
  const Table table = read();
  EXPECT_EQ(table.strings("status")[0], "ok");
  EXPECT_EQ(table.strings("status")[1], "extrapolating");
  EXPECT_EQ(table.strings("status")[2], "operation unknown");
  EXPECT_TRUE(table.is_null(table.index("cost"), 2));
}

TEST_F(Predictions, ANumberThatIsNoneIsARefusalOfItsRow) {
  put<double>("cost", {1, std::nan(""), std::numeric_limits<double>::infinity()});
  const Table table = read();
  EXPECT_EQ(table.strings("status")[0], "ok");
  EXPECT_EQ(table.strings("status")[1], "no finite answer");
  EXPECT_EQ(table.strings("status")[2], "no finite answer");
}

TEST_F(Predictions, Classes) {
  learnt.targets = {{"best", {}, true, {"cpu", "gpu"}}};
  put<std::int64_t>("best", {1, 0, 1});
  put<double>("best.p.cpu", {0.1, 0.8, 0.3});
  put<double>("best.p.gpu", {0.9, 0.2, 0.7});
  const Table table = read();
  EXPECT_EQ(table.strings("best")[0], "gpu");
  EXPECT_EQ(table.strings("best")[1], "cpu");
  EXPECT_THAT(table.numbers("best.p.cpu"), ElementsAre(0.1, 0.8, 0.3));
}

TEST_F(Predictions, NodesComeWithTheirIds) {
  learnt.per_node = true;
  put<std::int64_t>("workload_id", {10, 10});
  put<std::int32_t>("node_id", {0, 1});
  put<double>("cost", {1, 2});
  const Table table = read();
  EXPECT_EQ(table.column<std::int32_t>("node_id")[1], 1);
  EXPECT_EQ(table.rows(), 2);
}

TEST_F(Predictions, AMissingFile) {
  try {
    read_predictions(directory / "nowhere", learnt, rows, 0.9);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("ended without writing it"));
  }
}
TEST_F(Predictions, ADamagedFile) {
  std::ofstream(directory / kPredictionsFile) << "this is no container";
  EXPECT_THROW(read_predictions(directory / kPredictionsFile, learnt, rows, 0.9), Error);
}
TEST_F(Predictions, AMissingTarget) {
  put<double>("price", {1, 2, 3});
  EXPECT_THAT(problem(), HasSubstr("there is no tensor 'cost'"));
}
TEST_F(Predictions, TooFewValues) {
  put<double>("cost", {1, 2});
  EXPECT_THAT(problem(), HasSubstr("'cost' has 2 values for 3 rows"));
}
TEST_F(Predictions, AMissingRow) {
  put<std::int64_t>("workload_id", {10, 12});
  put<double>("cost", {1, 3});
  EXPECT_THAT(problem(), HasSubstr("no row for workload 11"));
}
TEST_F(Predictions, ARowTwice) {
  put<std::int64_t>("workload_id", {10, 11, 11, 12});
  put<double>("cost", {1, 2, 2, 3});
  EXPECT_THAT(problem(), HasSubstr("workload 11 comes twice"));
}
TEST_F(Predictions, ARowTooMany) {
  put<std::int64_t>("workload_id", {10, 11, 12, 13});
  put<double>("cost", {1, 2, 3, 4});
  EXPECT_THAT(problem(), HasSubstr("1 rows were not asked for"));
}
TEST_F(Predictions, AnUnknownStatus) {
  put<double>("cost", {1, 2, 3});
  put<std::int64_t>("status", {0, 4, 0});
  EXPECT_THAT(problem(), HasSubstr("the status of workload 11 is 4"));
}
TEST_F(Predictions, AClassThatDoesNotExist) {
  learnt.targets = {{"best", {}, true, {"cpu", "gpu"}}};
  put<std::int64_t>("best", {1, 2, 1});
  EXPECT_THAT(problem(), HasSubstr("'best' of workload 11 is 2"));
}
TEST_F(Predictions, AMatrix) {
  const std::vector<double> values(6);
  writer.put_tensor("cost", "F64", {3, 2}, values.data(), 48);
  EXPECT_THAT(problem(), HasSubstr("2 dimensions"));
}
TEST_F(Predictions, AType) {
  const std::vector<std::uint16_t> values(3);
  writer.put_tensor("cost", "F16", {3}, values.data(), 6);
  EXPECT_THAT(problem(), HasSubstr("type F16"));
}

TEST(State, FilesComeBackAsTheyWere) {
  const test::TempDir one, other;
  const Files files{{"model.bin", std::string("\0\1\2", 3)}, {"deep/er/file", ""}};
  write_files(one / "state", files);
  EXPECT_EQ(read_files(one / "state"), files);
}

TEST(State, LinksAreRefused) {
  const test::TempDir directory;
  fs::create_symlink("/etc/passwd", directory / "link");
  EXPECT_THROW(read_files(directory.path()), Error);
}

TEST(State, NothingIsWrittenOutside) {
  const test::TempDir directory;
  for (const char* name : {"../evil", "/tmp/evil", "a/../../evil", "", "dir/"})
    EXPECT_THROW(write_files(directory / "state", {{name, "x"}}), Error) << name;
}

class TrustTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
    ::unsetenv("OMEN_EXTERNAL_TRUST");
  }
  void TearDown() override { ::unsetenv("OMEN_COMMAND_LINE"); }
  const test::TempDir directory_;
};

TEST_F(TrustTest, OnlyWhatThisUserHasRun) {
  try {
    require_program("rm -rf /\x1b[2K");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rm -rf /\\x1b[2K")) << "escapes are visible";
    EXPECT_THAT(error.hint(), HasSubstr("OMEN_EXTERNAL_TRUST"));
    EXPECT_THAT(error.hint(), HasSubstr("omen trust add"));
  }
  remember(trust::program("python3 model.py"));
  require_program("python3 model.py");
  EXPECT_TRUE(trust::is_trusted(trust::program("python3 model.py")));
  EXPECT_EQ(trust::list().size(), 1u);
  EXPECT_EQ(trust::revoke(trust::list()[0].id().substr(0, 8)), 1u);
  EXPECT_FALSE(trust::is_trusted(trust::program("python3 model.py")));
  ::setenv("OMEN_EXTERNAL_TRUST", "1", 1);
  require_program("rm -rf /");
  ::unsetenv("OMEN_EXTERNAL_TRUST");
}

TEST_F(TrustTest, CoversTheFilesAmongTheArguments) {
  const fs::path script = directory_ / "model.py";
  container::write_file(script, "one");
  const std::string command = "python3 '" + script.string() + "'";
  trust::add(trust::program(command));
  EXPECT_TRUE(trust::is_trusted(trust::program(command)));
  container::write_file(script, "another");
  EXPECT_FALSE(trust::is_trusted(trust::program(command)));
  const trust::Record state = trust::model({{"state/a", "x"}, {"invocation", command}}, "m");
  EXPECT_EQ(trust::model({{"invocation", command}, {"state/a", "x"}}, "other").id(), state.id());
  EXPECT_NE(trust::model({{"invocation", command}, {"state/a", "y"}}, "m").id(), state.id());
}

TEST_F(TrustTest, WhatIsTypedStandsOnTheCommandLine) {
  const auto line = [](const std::string& words) {
    ::setenv("OMEN_COMMAND_LINE", words.c_str(), 1);
  };
  line(
      "train\x1f"
      "external.program\x1f"
      "--command\x1f"
      "python3 m.py");
  EXPECT_TRUE(is_typed({"python3 m.py", ""}));
  EXPECT_FALSE(is_typed({"python3 n.py"}));
  line(
      "compare\x1f"
      "external.program@script=m.py,command=venv/bin/python");
  EXPECT_TRUE(is_typed({"m.py", "venv/bin/python"}));
  EXPECT_FALSE(is_typed({"m"}));
  line(
      "rerun\x1f"
      "runs/1/run.json");
  EXPECT_FALSE(is_typed({"runs/1/run.json"}));
  EXPECT_TRUE(is_typed({"", ""}));
}

}  // namespace
}  // namespace omen::external
