// SPDX-License-Identifier: Apache-2.0
// Components in workers give the answers of components in this process, and their failures stay
// there.
#include "worker/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "components/loader.hpp"
#include "components/run_context.hpp"
#include "omen/container.hpp"
#include "omen/instrumented.hpp"
#include "omen/testing/temp_dir.hpp"
#include "text/log.hpp"
#include "worker/remote.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Manifest probe() {
  return read_manifest(fs::path(OMEN_TEST_BUILD_DIR) / "fixtures/probe/plugin.json");
}

OptionValues options(const char* id, std::uint32_t kind,
                     std::vector<std::pair<std::string, std::string>> flags = {}) {
  OptionSources sources;
  sources.flags = std::move(flags);
  sources.use_environment = false;
  return resolve_options(*probe().component(kind, id), sources);
}

PredictorHandle predictor(const std::string& mode, const WorkerLimits& limits = {}) {
  return remote_predictor(
      probe(), "probe.predictor",
      options("probe.predictor", OMEN_PREDICTOR, {{"mode", mode}, {"scale", "2"}}), limits);
}

Table workloads(std::int64_t rows) {
  std::vector<std::int64_t> id(static_cast<std::size_t>(rows));
  std::vector<double> x(id.size());
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<std::int64_t>(i);
    x[i] = static_cast<double>(i) / 4;
  }
  return TableBuilder().add("workload_id", id).add("x", x).finish();
}

void fill(MemoryDataset& data, std::int64_t rows) {
  data.put("workloads", workloads(rows));
  data.put("targets", TableBuilder()
                          .add("workload_id", std::vector<std::int64_t>{0, 1})
                          .add("cost", std::vector<double>{10, 30})
                          .finish());
}

Error worker_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(OMEN_OK, "");
}

class WorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    fill(data_, 3);
  }
  const test::TempDir temporary_;
  const fs::path cache_ = temporary_.path();
  MemoryDataset data_;
  RunContext run_{RunSettings{}};
};

TEST_F(WorkerTest, PredictsAsInThisProcess) {
  const OptionValues values = options("probe.predictor", OMEN_PREDICTOR, {{"scale", "2"}});
  PredictorHandle local(
      load_plugin(probe()).vtable<omen_predictor_vt>(OMEN_PREDICTOR, "probe.predictor"), values);
  PredictorHandle remote = predictor("plain");
  for (PredictorHandle* handle : {&local, &remote}) handle->fit(run_.c(), data_.c(), nullptr);
  const Table here = local.predict(run_.c(), data_.c()).read_all();
  const Table there = remote.predict(run_.c(), data_.c()).read_all();
  EXPECT_THAT(there.numbers("cost"), ElementsAre(20, 20.5, 21));
  EXPECT_EQ(there.numbers("cost"), here.numbers("cost"));
  EXPECT_EQ(there.strings("status")[2], "ok");
  EXPECT_GT(remote_peak_memory(remote), 1u << 20);
}

TEST_F(WorkerTest, CarriesModelsProgressAndMetrics) {
  std::map<std::string, double> metrics;
  std::vector<std::string> stages;
  RunHooks hooks;
  hooks.metric = [&](const char* name, std::int64_t, double value) { metrics[name] = value; };
  hooks.progress = [&](double, const char* stage) { stages.emplace_back(stage); };
  RunContext run({}, hooks);
  PredictorHandle first = predictor("plain");
  first.fit(run.c(), data_.c(), data_.c());
  EXPECT_EQ(metrics["rows"], 2);
  EXPECT_EQ(metrics["has_valid"], 1);
  EXPECT_THAT(stages, ElementsAre("fit"));

  container::Writer model;
  first.save(model.sink());
  const fs::path file = cache_ / "model.omen";
  model.write(file);
  const container::Reader reader = container::Reader::open(file);
  EXPECT_EQ(reader.metadata().at("note"), "none");
  PredictorHandle second = predictor("plain");
  second.load(reader.source());
  EXPECT_THAT(second.predict(run.c(), data_.c()).read_all().numbers("cost"),
              ElementsAre(20, 20.5, 21));

  MemoryDataset measured;
  measured.put("targets", TableBuilder().add("cost", std::vector<double>{100}).finish());
  remote_observe(second, run.c(), measured.c());
  EXPECT_EQ(second.predict(run.c(), data_.c()).read_all().numbers("cost")[0], 100);
}

TEST_F(WorkerTest, WithheldAndMissingTablesKeepTheirError) {
  data_.withhold("targets");
  PredictorHandle remote = predictor("plain");
  const Error error = worker_error_of([&] { remote.fit(run_.c(), data_.c(), nullptr); });
  EXPECT_EQ(error.code(), OMEN_NOT_FOUND);
  EXPECT_THAT(error.what(), HasSubstr("'targets' is withheld"));
  EXPECT_EQ(outcome_of(error), Outcome::kRefused);
}

TEST_F(WorkerTest, StreamsBatchByBatch) {
  data_.set_batch_rows(1);
  PredictorHandle remote = predictor("batches");
  TableStream answer = remote.predict(run_.c(), data_.c());
  std::vector<std::int64_t> sizes;
  while (const std::optional<Table> batch = answer.next()) sizes.push_back(batch->rows());
  EXPECT_THAT(sizes, ElementsAre(1, 1, 1));
}

TEST_F(WorkerTest, KeepsTheRowsBeforeAFailure) {
  data_.set_batch_rows(1);
  PredictorHandle remote = predictor("midstream");
  TableStream answer = remote.predict(run_.c(), data_.c());
  std::int64_t rows = 0;
  const Error error = worker_error_of([&] {
    while (const std::optional<Table> batch = answer.next()) rows += batch->rows();
  });
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_STREQ(error.what(), "row 2 is beyond repair");
  EXPECT_EQ(error.hint(), "Leave it out.");
}

TEST_F(WorkerTest, AStreamMayOutliveItsHandleOrBeDropped) {
  data_.set_batch_rows(1);
  std::optional<TableStream> answer;
  {
    PredictorHandle remote = predictor("batches");
    answer = remote.predict(run_.c(), data_.c());
    TableStream dropped = remote.predict(run_.c(), data_.c());
  }
  EXPECT_EQ(answer->read_all().rows(), 3);
}

TEST_F(WorkerTest, ACrashIsAnErrorAndIsRemembered) {
  PredictorHandle remote = predictor("crash");
  const Error error = worker_error_of([&] { remote.predict(run_.c(), data_.c()); });
  EXPECT_EQ(outcome_of(error), Outcome::kCrashed);
  EXPECT_EQ(exit_code_of(error), 5);
#if !OMEN_INSTRUMENTED
  EXPECT_STREQ(error.what(),
               "probe.predictor crashed in predict (SIGSEGV); it last wrote: about to fall");
#endif
  EXPECT_THAT(worker_error_of([&] { remote.predict(run_.c(), data_.c()); }).what(),
              HasSubstr("is gone"));

  const auto known = known_crashes();
  ASSERT_EQ(known.count(probe().sha256), 1u);
  const CrashRecord& record = known.at(probe().sha256).at("probe.predictor");
  EXPECT_EQ(record.component, "probe.predictor");
  EXPECT_EQ(record.call, "predict");
  EXPECT_EQ(record.outcome, "CRASHED");
  EXPECT_EQ(record.count, 1);
  forget_crashes(probe().sha256);
  EXPECT_TRUE(known_crashes().empty());
}

TEST_F(WorkerTest, CrashesOfTwoComponentsOfALibraryAreToldApart) {
  for (const char* component : {"probe.predictor", "probe.lines", "probe.predictor"})
    remember_crash("digest", {"probe", "0.1.0", component, "call", "CRASHED", "SIGSEGV", "", 0});
  const auto known = known_crashes().at("digest");
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known.at("probe.predictor").count, 2);
  EXPECT_EQ(known.at("probe.lines").count, 1);
}

TEST_F(WorkerTest, LeavingIsACrashToo) {
  const Error error = worker_error_of([&] { predictor("leave").predict(run_.c(), data_.c()); });
  EXPECT_EQ(outcome_of(error), Outcome::kCrashed);
  EXPECT_STREQ(error.what(), "probe.predictor ended its process in predict (exit 3)");
}

// Its thread that listens keeps the socket open, so that only its own end tells us. With which
// number it ends is the sanitizer's choice where one sees the descriptors go.
TEST_F(WorkerTest, ClosingEveryDescriptorIsACrashWithoutATimeout) {
  const Error error = worker_error_of([&] { predictor("close").predict(run_.c(), data_.c()); });
  EXPECT_EQ(outcome_of(error), Outcome::kCrashed);
  EXPECT_THAT(error.what(),
              testing::MatchesRegex("probe.predictor ended its process in predict .exit [0-9]+."));
}

TEST_F(WorkerTest, AHangEndsAtItsTimeout) {
  WorkerLimits limits;
  limits.timeout_s = 1.5;  // to open the plugin takes part of it on a busy machine
  const auto started = std::chrono::steady_clock::now();
  const Error error =
      worker_error_of([&] { predictor("stubborn", limits).predict(run_.c(), data_.c()); });
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(10));
  EXPECT_EQ(error.code(), OMEN_TIMEOUT);
  EXPECT_EQ(outcome_of(error), Outcome::kTimeout);
  EXPECT_EQ(exit_code_of(error), 5);
  EXPECT_THAT(error.what(), HasSubstr("did not finish predict within 1.5 s"));
}

TEST_F(WorkerTest, RunawayMemoryEndsAtItsLimit) {
  WorkerLimits limits;
  limits.memory_bytes = std::uint64_t{512} << 20;
  limits.timeout_s = 60;
  const Error error =
      worker_error_of([&] { predictor("eat", limits).predict(run_.c(), data_.c()); });
  EXPECT_EQ(error.code(), OMEN_OUT_OF_MEMORY);
  EXPECT_EQ(outcome_of(error), Outcome::kOom);
  EXPECT_THAT(error.what(), HasSubstr("used more than 512 MB in predict"));
}

TEST_F(WorkerTest, TheTimeoutBoundsAStreamThatNeverEnds) {
  for (const char* mode : {"endless", "idle"}) {
    WorkerLimits limits;
    limits.timeout_s = 1.5;
    PredictorHandle remote = predictor(mode, limits);
    const Error error = worker_error_of([&] { remote.predict(run_.c(), data_.c()).read_all(); });
    EXPECT_EQ(error.code(), OMEN_TIMEOUT) << mode;
    EXPECT_THAT(error.what(), HasSubstr("did not finish predict within 1.5 s")) << mode;
  }
}

TEST_F(WorkerTest, TheMemoryLimitCountsWhatAStreamBrought) {
  WorkerLimits limits;
  limits.memory_bytes = std::uint64_t{256} << 20;
  limits.timeout_s = 120;
  fill(data_, 20000);
  PredictorHandle remote = predictor("endless", limits);
  const Error error = worker_error_of([&] {
    TableStream stream = remote.predict(run_.c(), data_.c());
    while (stream.next()) continue;
  });
  EXPECT_EQ(error.code(), OMEN_OUT_OF_MEMORY);
}

TEST_F(WorkerTest, CancellationEndsAStreamThatNeverEnds) {
  std::atomic<bool> cancel{false};
  RunHooks hooks;
  hooks.is_cancelled = [&] { return cancel.load(); };
  RunContext run({}, hooks);
  WorkerLimits limits;
  limits.cancel_grace_s = 0.2;
  PredictorHandle remote = predictor("idle", limits);
  TableStream stream = remote.predict(run.c(), data_.c());
  cancel = true;
  const Error error = worker_error_of([&] {
    while (stream.next()) continue;
  });
  EXPECT_EQ(error.code(), OMEN_CANCELLED);
}

TEST_F(WorkerTest, ALineThatIsNoMessageIsTheWorkersFailure) {
  PredictorHandle remote = predictor("garble");
  const Error error = worker_error_of([&] { remote.predict(run_.c(), data_.c()); });
  EXPECT_EQ(outcome_of(error), Outcome::kCrashed);
  EXPECT_THAT(error.what(), HasSubstr("broke its channel to omen in predict"));
  EXPECT_THAT(error.what(), HasSubstr("{\"event\":5}"));
}

TEST_F(WorkerTest, WhatItLeavesBehindDoesNotHideItsEnd) {
  const Error error = worker_error_of([&] { predictor("orphan").predict(run_.c(), data_.c()); });
  EXPECT_EQ(outcome_of(error), Outcome::kCrashed);
  EXPECT_THAT(error.what(), HasSubstr("ended its process in predict (exit 0)"));
}

TEST_F(WorkerTest, CancellationReachesTheComponent) {
  std::atomic<bool> cancel{false};
  RunHooks hooks;
  hooks.is_cancelled = [&] { return cancel.load(); };
  RunContext run({}, hooks);
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  PredictorHandle remote = predictor("hang");
  const Error error = worker_error_of([&] { remote.predict(run.c(), data_.c()); });
  user.join();
  EXPECT_EQ(error.code(), OMEN_CANCELLED);
  EXPECT_STREQ(error.what(), "waiting was cancelled");
  cancel = false;
  MemoryDataset measured;
  measured.put("targets", TableBuilder().add("cost", std::vector<double>{1}).finish());
  EXPECT_NO_THROW(remote_observe(remote, run.c(), measured.c())) << "the worker lives on";
}

TEST_F(WorkerTest, WhoIgnoresCancellationIsKilled) {
  RunHooks hooks;
  hooks.is_cancelled = [] { return true; };
  RunContext run({}, hooks);
  WorkerLimits limits;
  limits.cancel_grace_s = 0.3;
  const Error error =
      worker_error_of([&] { predictor("stubborn", limits).predict(run.c(), data_.c()); });
  EXPECT_EQ(error.code(), OMEN_CANCELLED);
  EXPECT_THAT(error.what(), HasSubstr("did not stop predict within 0.3 s and was killed"));
}

TEST_F(WorkerTest, LogLinesAndStrayPrintsReachTheLog) {
  std::vector<std::string> lines;
  set_log_level(OMEN_LOG_INFO);
  forward_log([&](std::int32_t, std::string_view who, std::string_view text) {
    lines.push_back(std::string(who) + ": " + std::string(text));
  });
  { predictor("talk").predict(run_.c(), data_.c()); }
  forward_log({});
  set_log_level(OMEN_LOG_WARN);
  EXPECT_THAT(lines, testing::UnorderedElementsAre(
                         "probe.predictor: a proper line",
                         HasSubstr("probe: wrote to stdout: a stray line (results belong there; "
                                   "check it with: omen verify probe)")));
}

TEST_F(WorkerTest, AThreadThatOutlivesItsCallIsHeldBackAndNamed) {
  std::vector<std::string> lines;
  std::map<std::string, double> metrics;
  RunHooks hooks;
  hooks.metric = [&](const char* name, std::int64_t, double value) { metrics[name] = value; };
  RunContext run({}, hooks);
  forward_log([&](std::int32_t, std::string_view who, std::string_view text) {
    lines.push_back(std::string(who) + ": " + std::string(text));
  });
  {
    PredictorHandle late = predictor("detached");
    late.fit(run.c(), data_.c(), nullptr);
    // Its run and its tables are refused; the answer of the call that goes on stays what it is.
    EXPECT_THAT(late.predict(run.c(), data_.c()).read_all().numbers("cost"),
                ElementsAre(20, 20.5, 21));
  }
  forward_log({});
  EXPECT_THAT(lines, ElementsAre("probe.predictor: plugin misbehaving: a thread used progress of "
                                 "fit after the call was over"));
  EXPECT_EQ(metrics.count("late"), 0u);
}

TEST_F(WorkerTest, ACrashAfterTheAnswerIsARemark) {
  std::vector<std::string> lines;
  forward_log([&](std::int32_t, std::string_view who, std::string_view text) {
    lines.push_back(std::string(who) + ": " + std::string(text));
  });
  {
    PredictorHandle late = predictor("late_crash");
    EXPECT_EQ(late.predict(run_.c(), data_.c()).read_all().rows(), 3);
  }
  forward_log({});
  EXPECT_THAT(lines,
              ElementsAre("probe.predictor: crashed after its last answer (SIGSEGV); what it "
                          "answered stands"));
}

TEST_F(WorkerTest, ThreadBudgetIsInTheEnvironment) {
  WorkerLimits limits;
  limits.threads = 3;
  EXPECT_EQ(
      predictor("environment", limits).predict(run_.c(), data_.c()).read_all().numbers("cost")[0],
      3);
}

TEST_F(WorkerTest, FrontEndsProfilersScorersAndCommands) {
  FrontendHandle frontend =
      remote_frontend(probe(), "probe.lines", options("probe.lines", OMEN_GRAPH_FRONTEND), {});
  TableCollector tables;
  frontend.lower(run_.c(), "some.probe", tables.c());
  auto lowered = tables.take();
  EXPECT_EQ(lowered.at("workloads").strings("name")[0], "some.probe");
  EXPECT_EQ(lowered.at("nodes").rows(), 2);
  EXPECT_EQ(lowered.at("nodes").metadata("omen.dialect"), "ops/1");
  EXPECT_EQ(lowered.at("nodes").strings("op")[1], "mul");
  RemoteSniffer sniffer(probe(), {});
  EXPECT_EQ(sniffer.sniff("probe.lines", "x", "probe"), 80);
  EXPECT_EQ(sniffer.sniff("probe.lines", "known", {}), 60);

  ProfilerHandle profiler =
      remote_profiler(probe(), "probe.meter", options("probe.meter", OMEN_PROFILER), {});
  EXPECT_EQ(profiler.probe(), R"({"devices": ["meter:0"]})");
  EXPECT_EQ(profiler.collect(run_.c(), "{\"a\": 1}").read_all().numbers("value")[0], 8);

  ScorerHandle scorer =
      remote_scorer(probe(), "probe.cheapest", options("probe.cheapest", OMEN_SCORER), {});
  EXPECT_TRUE(scorer.enumerates());
  EXPECT_FALSE(scorer.loads());
  EXPECT_EQ(scorer.enumerate(run_.c(), data_.c()).read_all().rows(), 3);
  MemoryDataset decided;
  decided.put("predictions", workloads(5));
  EXPECT_EQ(scorer.score(run_.c(), decided.c()).read_all().rows(), 5);

  CommandHandle command =
      remote_command(probe(), "probe.echo", options("probe.echo", OMEN_COMMAND), {});
  TableCollector words;
  EXPECT_EQ(command.run(run_.c(), {"a", "b c"}, words.c()), 2);
  EXPECT_EQ(words.take().at("words").strings("word")[1], "b c");

  MemoryDataset graph;
  graph.put("nodes", workloads(4));
  const fs::path file = cache_ / "graph.count";
  remote_write_graph(probe(), run_.c(), graph.c(), file.c_str(), {});
  std::string line;
  std::getline(std::ifstream(file).seekg(0), line);
  EXPECT_EQ(line, "4");
}

TEST_F(WorkerTest, NothingIsLeftBehind) {
  WorkerLimits limits;
  limits.run_dir = cache_ / "runs";
  { predictor("batches", limits).predict(run_.c(), data_.c()).read_all(); }
  EXPECT_TRUE(fs::is_empty(limits.run_dir));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was not collected";
}

#if !defined(__SANITIZE_THREAD__)  // whose forked children cannot start threads
// Running, as opposed to gone or waiting to be collected by whoever inherited it.
bool runs(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return (stat >> number >> name >> state) && state != "Z" && state != "X";
}

// Starts a worker that ignores everything, tells its number and dies without a word.
[[noreturn]] void be_a_short_lived_host(int tell, const omen_run* run, const omen_dataset* data) {
  PredictorHandle remote = predictor("stubborn");
  std::thread([&] { remote.predict(run, data); }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  pid_t worker = 0;
  std::ifstream("/proc/self/task/" + std::to_string(getpid()) + "/children") >> worker;
  if (write(tell, &worker, sizeof worker) != sizeof worker) _exit(1);
  _exit(0);
}

TEST_F(WorkerTest, AWorkerDiesWithItsHost) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t host = fork();
  if (host == 0) be_a_short_lived_host(ends[1], run_.c(), data_.c());
  pid_t worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ASSERT_GT(worker, 0);
  waitpid(host, nullptr, 0);
  for (int i = 0; i < 500 && runs(worker); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs(worker));
  close(ends[0]);
  close(ends[1]);
}
#endif

TEST(OutcomeTest, FollowsTheStatus) {
  EXPECT_EQ(outcome_of(Error(OMEN_UNAVAILABLE, "no device")), Outcome::kRefused);
  EXPECT_EQ(outcome_of(Error(OMEN_INTERNAL, "bug")), Outcome::kFailed);
  EXPECT_EQ(outcome_of(Error(OMEN_OUT_OF_MEMORY, "full")), Outcome::kOom);
  EXPECT_EQ(exit_code_of(Error(OMEN_CANCELLED, "stop")), 130);
  EXPECT_EQ(exit_code_of(Error(OMEN_INVALID_DATA, "bad")), 4);
}

}  // namespace
}  // namespace omen::host

// The test program is its own worker.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "__worker")
    return omen::host::worker_main(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
