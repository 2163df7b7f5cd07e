// SPDX-License-Identifier: Apache-2.0
// Plans from words, records of runs, and what differs between two.
#include "compare/run_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "compare/job_result.hpp"
#include "compare/plan.hpp"
#include "compare/run_diff.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "support/compare_plan.hpp"
#include "text/json_writer.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ComparePlan plan_of(const std::vector<std::string>& words, bool self_check = false) {
  PlanRequest request;
  request.contestants = words;
  request.self_check = self_check;
  FlagBook flags;
  std::vector<std::string> warnings;
  return make_plan(test::fixtures(), flags, request, warnings);
}

std::vector<std::string> labels(const ComparePlan& plan) {
  std::vector<std::string> all;
  for (const PlannedContestant& contestant : plan.contestants)
    all.push_back((contestant.facts.reference ? "*" : "") + contestant.facts.label);
  return all;
}

// Boosted trees are there where XGBoost was at build time.
std::vector<std::string> with_trees(std::vector<std::string> all) {
  for (const ComponentRef& ref : test::fixtures().components(OMEN_PREDICTOR))
    if (ref.info->id == "baseline.gbt") all.emplace_back("*baseline.gbt");
  return all;
}

TEST(PlanTest, ReferencesAreAlwaysThereAndNeverTwice) {
  EXPECT_THAT(labels(plan_of({"contender.slow", "contender.snoop"})),
              ElementsAreArray(with_trees(
                  {"contender.slow", "contender.snoop", "*baseline.mean", "*baseline.knn@k=5"})));
  EXPECT_THAT(labels(plan_of({"baseline.mean", "baseline.knn@k=5"})),
              ElementsAreArray(with_trees({"baseline.mean", "baseline.knn"})));
  EXPECT_THAT(labels(plan_of({"baseline.knn", "baseline.mean"})),
              ElementsAreArray(with_trees({"baseline.knn", "baseline.mean", "*baseline.knn@k=5"})));
}

TEST(PlanTest, OneComponentWithSeveralOptionsHasSeveralLabels) {
  const ComparePlan plan = plan_of({"contender.slow", "contender.slow@bias=0.5,noise=0.1"});
  EXPECT_EQ(plan.contestants[0].facts.label, "contender.slow");
  EXPECT_EQ(plan.contestants[1].facts.label, "contender.slow@bias=0.5,noise=0.1");
  EXPECT_THAT(plan.contestants[1].facts.options_json, HasSubstr("0.5"));
  EXPECT_EQ(find_contestant(plan, "contender.slow@bias=0.5,noise=0.1"), 1u);
  EXPECT_THAT(error_of([&] { find_contestant(plan, "nobody"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("none of the contestants"),
                      HasSubstr("contender.slow")));
}

TEST(PlanTest, MistakesAreNamed) {
  EXPECT_THAT(error_of([] { plan_of({"contender.slow@bias"}); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("COMPONENT@KEY=VALUE")));
  EXPECT_THAT(error_of([] { plan_of({"contender.slow@biass=1"}); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("biass"), HasSubstr("bias")));
  EXPECT_THAT(error_of([] {
                plan_of({"contender.slwo", "baseline.mean"});
              }),
              IsError(OMEN_NOT_FOUND, HasSubstr("contender.slwo"), HasSubstr("contender.slow")));
  EXPECT_THAT(error_of([] {
                plan_of({"contender.slow", "baseline.mean"}, true);
              }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("--aa")));
}

TEST(PlanTest, ASelfCheckIsTheSameComponentUnderTheNextSeed) {
  const ComparePlan plan = plan_of({"contender.slow"}, true);
  ASSERT_THAT(plan.contestants, SizeIs(2));
  EXPECT_EQ(plan.contestants[1].seed, 2u);
  EXPECT_EQ(plan.contestants[0].facts.options_json, plan.contestants[1].facts.options_json);
}

TEST(PlanTest, FoldsAtOnceKeepToTheThreadBudget) {
  ComparePlan plan = test::small_plan({});
  EXPECT_EQ(jobs_at_once(plan, 4), 4u);
  plan.tasks[0].task.threads_per_fold = 3;
  EXPECT_EQ(jobs_at_once(plan, 4), 1u);
  EXPECT_EQ(jobs_at_once(plan, 7), 2u);
  plan.tasks[0].task.threads_per_fold = 64;
  EXPECT_EQ(jobs_at_once(plan, 4), 1u);
}

class RunsTest : public testing::Test {
 protected:
  static RunRecord record(const std::string& id) {
    RunRecord run;
    run.id = id;
    run.status = RunStatus::kFinished;
    run.time = "2031-01-02T03:04:05Z";
    run.command = {"compare", "a", "b"};
    run.plan_digest = "feed";
    run.baseline = "a";
    run.devices = "cpu";
    for (const char* label : {"a", "b"}) {
      Contestant contestant;
      contestant.label = contestant.component = label;
      contestant.library_sha256 = std::string("sha-of-") + label;
      contestant.options_json = R"({"depth":4,"rate":0.5})";
      contestant.determinism = Determinism::kBitwise;
      run.contestants.push_back(contestant);
    }
    run.tasks.push_back({"t", "hash-t", "t.json", "data", "digest", "k-fold", 40, 8, 2, 0});
    for (const char* label : {"a", "b"})
      for (const char* fold : {"0", "1"})
        run.jobs.push_back(
            {{label, "t", fold, Outcome::kOk, "", std::string("d") + fold, false}, {}, "k"});
    run.results.push_back({"t", "cost", "a", "BASELINE", "%", 40, 40, 10, 12, 0, 0, 0, 1});
    run.results.push_back({"t", "cost", "b", "BETTER", "%", 40, 39, 8, 9, -2, -3, -1, 0.01});
    run.warnings = {"careful"};
    return run;
  }

  fs::path write(const RunRecord& run) const {
    JsonWriter json;
    json.object().field("format_version", 1).field("verb", run.verb);
    json.strings("command", run.command).field("time", run.time);
    json.field("seed", run.seed).field("threads", run.threads).field("devices", run.devices);
    write_fields(json, run);
    fs::create_directories(directory_ / run.id);
    std::ofstream(directory_ / run.id / "run.json") << json.end().text();
    return directory_ / run.id;
  }

  const test::TempDir temporary_;
  const fs::path directory_ = temporary_.path();
};

TEST_F(RunsTest, ARecordReadsBackAsItWasWritten) {
  RunRecord run = record("aaaa");
  run.rope = 0.05;
  run.contestants[1].seed = 9;
  run.results[1].p_holm = std::nan("");
  const RunRecord back = read_run_record(write(run));
  EXPECT_EQ(back.id, "aaaa");
  EXPECT_EQ(back.rope, 0.05);
  EXPECT_EQ(back.contestants[0].seed, 0u);
  EXPECT_EQ(back.contestants[1].seed, 9u);
  EXPECT_EQ(back.contestants[0].options_json, run.contestants[0].options_json);
  EXPECT_EQ(back.tasks[0].dataset_digest, "digest");
  EXPECT_THAT(back.jobs, SizeIs(4));
  EXPECT_TRUE(std::isnan(back.results[1].p_holm));
  EXPECT_THAT(back.warnings, ElementsAre("careful"));
  EXPECT_EQ(back.predictions_digest("a", "t"), run.predictions_digest("a", "t"));
  EXPECT_NE(back.predictions_digest("a", "t"), "");
}

TEST_F(RunsTest, RunsAreFoundByIdByTheStartOfOneAndByPlace) {
  write(record("abcd1234"));
  write(record("abff0000"));
  EXPECT_EQ(find_run(directory_, "abcd"), directory_ / "abcd1234");
  EXPECT_EQ(find_run(directory_, (directory_ / "abff0000").string()), directory_ / "abff0000");
  EXPECT_EQ(find_run("elsewhere", (directory_ / "abff0000/run.json").string()),
            directory_ / "abff0000/run.json");
  EXPECT_THAT(error_of([&] { find_run(directory_, "ab"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("not the only one"), HasSubstr("abcd1234")));
  EXPECT_THAT(error_of([&] { find_run(directory_, "abcd1235"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("abcd1235"), HasSubstr("abcd1234")));
  std::ofstream(directory_ / "abcd1234/run.json") << "{\"verb\": 7}";
  EXPECT_THAT(error_of([&] { read_run_record(directory_ / "abcd1234"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("no record")));
  EXPECT_THAT(list_runs(directory_), SizeIs(1)) << "a broken record does not hide the others";
}

TEST_F(RunsTest, ADiffShowsOnlyWhatDiffers) {
  const RunRecord a = record("aaaa");
  EXPECT_THAT(diff_runs(a, a).settings, IsEmpty());
  EXPECT_TRUE(diff_runs(a, a).results.at(0).same_predictions);
  RunRecord b = record("bbbb");
  b.seed = 2;
  b.contestants[1].options_json = R"({"depth":6,"rate":0.5})";
  b.contestants[1].library_sha256 = "sha-of-newer";
  b.contestants.push_back(b.contestants[0]);
  b.contestants.back().label = "c";
  b.jobs[3].record.digest = "other";
  const RunDiff diff = diff_runs(a, b);
  EXPECT_THAT(diff.settings, testing::UnorderedElementsAre(Field(&Difference::what, "seed"),
                                                           Field(&Difference::what, "b: depth"),
                                                           Field(&Difference::what, "b: library")));
  EXPECT_THAT(diff.only_b, ElementsAre("c"));
  ASSERT_THAT(diff.results, SizeIs(2));
  EXPECT_TRUE(diff.results[0].same_predictions);
  EXPECT_FALSE(diff.results[1].same_predictions);
}

TEST_F(RunsTest, RepetitionsAreComparedNumberByNumber) {
  const auto run = [&](const std::string& id, double factor, const std::string& status) {
    RunRecord out = record(id);
    out.directory = directory_ / id;
    out.jobs.resize(1);
    Job job;
    job.key = out.jobs[0].key = "key";
    const Table rows = TableBuilder()
                           .add("workload_id", std::vector<std::int64_t>{0, 1, 2})
                           .add("cost", std::vector<double>{factor * 1, factor * 2, std::nan("")})
                           .add_categories("status", {"ok", "ok", status})
                           .finish();
    ResultStore(out.directory / "jobs")
        .put(job, make_job_result(job, out.jobs[0].record, {}, {{"predictions", rows}}));
    return out;
  };
  const RunRecord a = run("aaaa", 1, "fell");
  EXPECT_EQ(largest_difference(a, a, "a", "t"), 0);
  EXPECT_NEAR(largest_difference(a, run("bbbb", 1 + 1e-6, "fell"), "a", "t"), 1e-6, 1e-9);
  EXPECT_TRUE(std::isinf(largest_difference(a, run("cccc", 1, "ok"), "a", "t")));
  EXPECT_TRUE(std::isinf(largest_difference(a, a, "b", "t"))) << "nothing is kept of it";
}

TEST_F(RunsTest, ResultsOnTasksOfAnotherHashAreNotCompared) {
  const RunRecord a = record("aaaa");
  RunRecord b = record("bbbb");
  b.tasks[0].hash = "another";
  EXPECT_THAT(error_of([&] { diff_runs(a, b); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("no task of the same hash")));
  RunRecord c = record("cccc"), d = record("dddd");
  for (RunRecord* run : {&c, &d}) {
    run->tasks.push_back({"u", "hash-u", "u.json", "data", "digest", "k-fold", 40, 8, 2, 0});
    run->results.push_back({"u", "cost", "a", "BASELINE", "%", 40, 40, 10, 12, 0, 0, 0, 1});
  }
  d.tasks[0].hash = "another";
  const RunDiff diff = diff_runs(c, d);
  EXPECT_THAT(diff.tasks, ElementsAre(Field(&Difference::what, "task t")));
  ASSERT_THAT(diff.results, SizeIs(1));
  EXPECT_EQ(diff.results[0].a.task, "u");
}

}  // namespace
}  // namespace omen::host
