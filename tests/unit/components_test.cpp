// SPDX-License-Identifier: Apache-2.0
// The door to components: what they are shown, and where they run.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "cli/cli.hpp"
#include "components/calls.hpp"
#include "components/components.hpp"
#include "components/withheld.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "pipeline/models.hpp"
#include "pipeline/pipeline.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using ::testing::Each;
using ::testing::HasSubstr;

// Two workloads with two candidates each, and every table that holds the truth about them.
Tables tables_with_truth() {
  const std::vector<std::int64_t> owner{0, 0, 1, 1};
  const std::vector<std::int32_t> number{0, 1, 0, 1};
  Tables tables;
  tables["workloads"] = TableBuilder()
                            .add("workload_id", std::vector<std::int64_t>{0, 1})
                            .add_categories("group", {"a", "b"})
                            .add("x", std::vector<double>{1, 2})
                            .finish();
  tables["candidates"] = TableBuilder()
                             .add("workload_id", owner)
                             .add("candidate_id", number)
                             .add_categories("name", {"l", "r", "l", "r"})
                             .finish();
  tables["candidate_costs"] = TableBuilder()
                                  .add("workload_id", owner)
                                  .add("candidate_id", number)
                                  .add("cost", std::vector<double>{1, 2, 3, 4})
                                  .finish();
  tables["targets"] = TableBuilder()
                          .add("workload_id", std::vector<std::int64_t>{0, 1})
                          .add("cost", std::vector<double>{1, 3})
                          .finish();
  tables["node_targets"] = tables["targets"];
  return tables;
}

class DoorTest : public ::testing::Test {
 protected:
  DoorTest()
      : registry_(Registry::discover({fs::path(OMEN_TEST_BUILD_DIR) / "fixtures/witness"})) {}

  ComponentRef witness() const { return registry_.component(OMEN_PREDICTOR, "witness.sees"); }
  Choice choice(const Components& components) const {
    const fs::path file = dir_.path() / "witness.omen";
    PredictorHandle handle = components.predictor(witness(), resolve_options(*witness().info, {}));
    save_model(handle, witness(), {}, file);
    return {witness(), file};
  }
  // What a predictor answers that asks another one, which is told to behave in this mode.
  Table ask(const Components& components, const std::string& mode) const {
    OptionSources sources;
    sources.flags = {{"ask", "witness.sees"}, {"mode", mode}};
    PredictorHandle handle =
        components.predictor(witness(), resolve_options(*witness().info, sources));
    MemoryDataset data;
    put_inputs(data, tables_with_truth());
    const RunContext run{RunSettings{}};
    return handle.predict(run.c(), data.c()).read_all();
  }
  static ComponentSettings settings(bool isolate) {
    ComponentSettings settings;
    settings.isolate = isolate;
    settings.in_process = !isolate;
    settings.limits.in_process_calls = true;  // the witness is not part of the installation
    return settings;
  }

  test::TempDir dir_;
  Registry registry_;
};

TEST(Withheld, IsWhatHoldsTheTruth) {
  for (const char* table : {"targets", "node_targets", "candidate_costs"})
    EXPECT_TRUE(is_withheld(table)) << table;
  for (const char* table : {"workloads", "candidates", "nodes", "edges", "predictions", ""})
    EXPECT_FALSE(is_withheld(table)) << table;
}

// Every other room takes its objects from the door; workers are the far side of it.
TEST(Door, IsTheOnlyOne) {
  const fs::path sources = fs::path(OMEN_TEST_SOURCE_DIR).parent_path() / "host/src";
  std::size_t looked_at = 0;
  for (const auto& entry : fs::recursive_directory_iterator(sources)) {
    const std::string room = *fs::relative(entry.path(), sources).begin();
    if (!entry.is_regular_file() || room == "components" || room == "worker") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const char* way :
         {"load_plugin(", "open_plugin_library(", "remote_predictor(", "remote_scorer(",
          "remote_frontend(", "remote_profiler(", "remote_command("})
      EXPECT_EQ(text.find(way), text.npos) << entry.path() << " opens objects with " << way;
    ++looked_at;
  }
  EXPECT_GT(looked_at, 100u);
}

TEST_F(DoorTest, PredictorsDoNotSeeTheTruth) {
  for (const bool isolate : {false, true}) {
    const Components components(registry_, settings(isolate));
    FlagBook flags({}, {});
    const Prediction prediction =
        predict(components, choice(components), tables_with_truth(), flags);
    EXPECT_THAT(prediction.rows.numbers("secret_rows"), Each(0)) << "isolated: " << isolate;
  }
}

TEST_F(DoorTest, ScorersDoNotSeeTheTruth) {
  const Components components(registry_, settings(false));
  ScoringPlan plan;
  plan.scorer = registry_.component(OMEN_SCORER, "witness.ranks");
  plan.tables = tables_with_truth();
  plan.candidates = plan.tables.at("candidates");
  FlagBook flags({}, {});
  EXPECT_THAT(score(components, plan, flags).scores.numbers("score"), Each(0));
}

TEST_F(DoorTest, ComponentsThatAreCalledDoNotSeeTheTruth) {
  const Components components(registry_, settings(false));
  const ComponentsInUse in_use(components);
  MemoryDataset data;
  for (const auto& [name, table] : tables_with_truth()) data.put(name, table);
  const RunContext run{RunSettings{}};
  for (const char* component : {"witness.sees", "witness.ranks"}) {
    const bool predicts = component == std::string("witness.sees");
    ArrowArrayStream out{};
    ErrorOut error;
    error.check((predicts ? call_extension()->predict : call_extension()->score)(
        nullptr, run.c(), component, nullptr, nullptr, data.c(), &out, error));
    const Table rows = TableStream::import(&out).read_all();
    EXPECT_THAT(rows.numbers(predicts ? "secret_rows" : "score"), Each(0)) << component;
  }
}

TEST_F(DoorTest, CallsStayInTheProcessWhereNobodyAsksForMore) {
  for (const bool isolate : {false, true}) {
    const Components components(registry_, settings(isolate));
    const ComponentsInUse in_use(components);
    const Table rows = ask(components, "plain");
    EXPECT_EQ(rows.numbers("process"), rows.numbers("asking_process"));
    EXPECT_EQ(rows.numbers("process")[0] == getpid(), !isolate);
  }
}

TEST_F(DoorTest, CallsKeepIsolation) {
  ComponentSettings isolated = settings(true);
  isolated.limits.isolate_calls = true;
  const Components components(registry_, isolated);
  const Table rows = ask(components, "plain");
  EXPECT_NE(rows.numbers("asking_process")[0], getpid());
  EXPECT_NE(rows.numbers("process")[0], getpid());
  EXPECT_NE(rows.numbers("process")[0], rows.numbers("asking_process")[0]);
}

// The one that asks runs here, without limits, so that only those of the call can end it.
TEST_F(DoorTest, CallsKeepTimeAndMemoryLimits) {
  const Components asking(registry_, settings(false));
  ComponentSettings hurried = settings(true), small = settings(true);
  hurried.limits.timeout_s = 5;
  small.limits.memory_bytes = std::uint64_t{256} << 20;
  {
    const Components called(registry_, hurried);
    const ComponentsInUse in_use(called);
    EXPECT_THAT(error_of([&] { ask(asking, "hang"); }),
                IsError(OMEN_TIMEOUT, HasSubstr("did not finish predict within 5 s")));
  }
  const Components called(registry_, small);
  const ComponentsInUse in_use(called);
  EXPECT_THAT(error_of([&] { ask(asking, "eat"); }),
              IsError(OMEN_OUT_OF_MEMORY, HasSubstr("used more than 256 MB")));
}

// What a worker is told about calls is what its own workers are bound by.
TEST_F(DoorTest, LimitsReachCallsFromWorkers) {
  ComponentSettings limited = settings(true);
  limited.limits.isolate_calls = true;
  limited.limits.memory_bytes = std::uint64_t{256} << 20;
  const Components components(registry_, limited);
  EXPECT_THAT(error_of([&] { ask(components, "eat"); }),
              IsError(OMEN_OUT_OF_MEMORY, HasSubstr("used more than 256 MB")));
}

TEST_F(DoorTest, OnePredictOpensItsModelOnce) {
  const fs::path model = choice(Components(registry_, settings(false))).model.file();
  std::ofstream(dir_.path() / "in.csv") << "x\n1\n2\n";
  const int events = inotify_init1(IN_NONBLOCK);
  // Closing is watched too: equal events behind each other would be told as one.
  ASSERT_GE(inotify_add_watch(events, model.c_str(), IN_OPEN | IN_CLOSE), 0);
  std::vector<std::string> words{"omen",
                                 "predict",
                                 dir_.path() / "in.csv",
                                 "-m",
                                 model,
                                 "-o",
                                 dir_.path() / "out.csv",
                                 "-q",
                                 "--plugin-path",
                                 registry_.plugin_path().at(0)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  EXPECT_EQ(cli::run(static_cast<int>(arguments.size()), arguments.data()), 0);
  alignas(inotify_event) char bytes[4096];
  const ssize_t size = read(events, bytes, sizeof bytes);
  close(events);
  int opened = 0;
  for (ssize_t at = 0; at + ssize_t{sizeof(inotify_event)} <= size;) {
    inotify_event event;
    std::memcpy(&event, bytes + at, sizeof event);
    opened += (event.mask & IN_OPEN) != 0;
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  EXPECT_EQ(opened, 1);
}

}  // namespace
}  // namespace omen::host

// Workers of these tests are this very program.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "__worker")
    return omen::host::worker_main(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
