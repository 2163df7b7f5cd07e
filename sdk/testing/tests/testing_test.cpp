// SPDX-License-Identifier: Apache-2.0
// The testing kit itself: directories, tables from text, runs, artifacts, a plugin, figures.
#include <gmock/gmock.h>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/plugin_client.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TempDir, IsGoneWithItsFiles) {
  std::filesystem::path file;
  {
    const TempDir directory;
    file = directory.write("a/b.txt", "one\ntwo\n");
    EXPECT_EQ(file, directory / "a/b.txt");
    EXPECT_EQ(directory.read("a/b.txt"), "one\ntwo\n");
    EXPECT_THROW(directory.read("absent"), std::runtime_error);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(CsvTable, SettlesTypesByWhatEveryFieldIs) {
  const Table table = csv_table(
      "workload_id,op,batch,cost:ms:lower\n"
      "0,conv,8,1.5\n\n"
      "1,\"a \"\"b\"\", c\n d\",,-2e3\r\n"
      "2,,4,\n");
  ASSERT_EQ(table.rows(), 3);
  EXPECT_THAT(table.numbers("workload_id"), ElementsAre(0, 1, 2));
  EXPECT_EQ(table.strings("op")[1], "a \"b\", c\n d");
  EXPECT_TRUE(table.is_null(table.index("op"), 2));
  EXPECT_TRUE(table.is_null(table.index("batch"), 1));
  EXPECT_EQ(table.column<double>("cost")[1], -2000);
  EXPECT_EQ(table.metadata(table.index("cost"), "omen.unit"), "ms");
  EXPECT_EQ(table.metadata(table.index("cost"), "omen.direction"), "lower");
}

TEST(CsvTable, NamesTheLineThatIsShort) {
  EXPECT_THAT(error_of([] { csv_table("a,b\n1,2\n3\n"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("line 3 has 1 fields, not 2")));
  EXPECT_THAT(error_of([] { csv_table(""); }), IsError(OMEN_INVALID_DATA, HasSubstr("names")));
  EXPECT_EQ(thrown_by([] {}).code(), OMEN_OK);
}

TEST(ReadyRun, CanBeCancelledAndKeepsMetrics) {
  ReadyRun ready(7, 2);
  const omen::Run run = ready;
  EXPECT_EQ(run.seed(), 7U);
  EXPECT_EQ(run.threads(), 2U);
  run.metric("loss", 0, 0.5);
  run.metric("loss", 1, 0.25);
  EXPECT_THAT(ready.metric("loss"), ElementsAre(0.5, 0.25));
  EXPECT_THAT(ready.metric("other"), IsEmpty());
  run.step(0.1, "fit");
  ready.cancel_after(1);
  run.step(0.2, "fit");
  EXPECT_THAT(error_of([&] { run.step(0.3, "fit"); }), IsError(OMEN_CANCELLED, HasSubstr("fit")));
  EXPECT_EQ(ready.questions(), 3);
}

struct Line {
  std::vector<double> slope;
  std::string unit;
  void save(ArtifactWriter& out) const {
    out.put("slope", slope);
    out.put_meta("unit", unit);
  }
  void load(const ArtifactReader& in) {
    slope = in.get<double>("slope");
    unit = in.meta("unit");
  }
};

TEST(RoundTrip, GivesBackWhatWasSaved) {
  const Line line{{1.5, -2}, "ms"};
  Line again;
  round_trip(line, again);
  EXPECT_EQ(again.slope, line.slope);
  EXPECT_EQ(again.unit, "ms");
  MemoryArtifact damaged = saved(line);
  damaged.meta.clear();
  EXPECT_THAT(error_of([&] { load_from(damaged, again); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("'unit'")));
}

TEST(PluginClient, TrainsSavesAndLoads) {
  const PluginClient plugin(OMEN_TESTING_PLUGIN);
  EXPECT_THAT(plugin.ids(), ElementsAre("consume.mean"));
  EXPECT_THAT(error_of([&] { plugin.component("consume.median"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("consume.median")));
  EXPECT_THAT(error_of([&] {
                PredictorClient(plugin.component("consume.mean"), {{"depth", "3"}});
              }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("no option depth")));
  MemoryDataset data;
  data.put("workloads", csv_table("workload_id,x\n0,1\n1,2\n"));
  data.put("targets", csv_table("workload_id,cost:ms:lower\n0,1.5\n1,2.5\n"));
  const ReadyRun run;
  PredictorClient trained(plugin.component("consume.mean")),
      loaded(plugin.component("consume.mean"));
  EXPECT_EQ(thrown_by([&] { loaded.predict(data, run); }).code(), OMEN_INVALID_STATE);
  trained.fit(data, run);
  MemoryArtifact artifact = trained.save();
  loaded.load(artifact);
  data.withhold("targets");
  EXPECT_THAT(loaded.predict(data, run).numbers("cost"), ElementsAre(2, 2));
  ReadyRun cancelled;
  cancelled.cancel();
  EXPECT_EQ(thrown_by([&] { trained.fit(data, cancelled); }).code(), OMEN_NOT_FOUND)
      << "targets are withheld from now on";
}

TEST(Show, PrintsTheGoalAndSaysWhetherItIsMet) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(show("error", 1.23456, "%", "<=", 2), 0);
  EXPECT_EQ(show("rows", 1728000, "rows", ">=", 2e6), 1);
  show("size", 3.5, "MB");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "SHOW error 1.235 % goal <= 2\n"
            "SHOW rows 1728000 rows goal >= 2e+06\n"
            "SHOW size 3.5 MB goal none\n");
}

}  // namespace
}  // namespace omen::test
