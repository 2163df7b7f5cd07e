// SPDX-License-Identifier: Apache-2.0
// Jobs: what a fold gives, what a predict worker can see, what is kept over a kill.
#include "compare/jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "compare/fold_data.hpp"
#include "compare/run_directory.hpp"
#include "fixtures/contender/snoop.hpp"
#include "omen/container.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "support/compare_plan.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::contestant;
using test::error_of;
using test::IsError;
using test::small_plan;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

template <class... Contestants>
ComparePlan plan_of(Contestants... contestants) {
  std::vector<PlannedContestant> all;
  (all.push_back(std::move(contestants)), ...);
  return small_plan(std::move(all));
}

std::vector<std::string> statuses(const JobResult& result) {
  const Tables tables = job_tables(result);
  const Table& rows = tables.at("predictions");
  return column_texts(rows, rows.index("status"));
}

// A private TMPDIR, which is all that a snooping plugin has to look through.
class JobsTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_ / "tmp");
    setenv("TMPDIR", (directory_ / "tmp").c_str(), 1);
    setenv("XDG_CACHE_HOME", (directory_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    unsetenv("XDG_CACHE_HOME");
  }
  ResultStore store() const { return ResultStore(directory_ / "jobs"); }
  fs::path file_of(const Job& job) const { return directory_ / "jobs" / (job.key + ".omt"); }

  const test::TempDir temporary_;
  const fs::path directory_ = temporary_.path();
};

TEST_F(JobsTest, AFoldGivesPredictionsCurvesTimingsAndACost) {
  const ComparePlan plan = plan_of(contestant("contender.slow"));
  const JobResult result = run_job(plan, plan_jobs(plan).at(1), {});
  EXPECT_EQ(result.record.outcome, Outcome::kOk) << result.record.message;
  EXPECT_EQ(result.record.fold, "1");
  EXPECT_THAT(result.record.digest, SizeIs(64));
  const Tables tables = job_tables(result);
  EXPECT_EQ(tables.at("predictions").rows(), 10);
  EXPECT_EQ(tables.at("curves").rows(), 3);
  EXPECT_THAT(tables.at("timing").rows(), Gt(0));
  EXPECT_GT(result.cost.load_s, 0);
  EXPECT_GT(result.cost.fit_s, 0);
  EXPECT_GT(result.cost.predict_p50_ms, 0);
  EXPECT_GE(result.cost.predict_p95_ms, result.cost.predict_p50_ms);
  EXPECT_GT(result.cost.peak_memory, 1u << 20);
  EXPECT_TRUE(fs::is_empty(directory_ / "tmp")) << "a job leaves nothing behind";
}

TEST_F(JobsTest, ObservedRowsCorrectTheFittedModel) {
  ComparePlan plan = plan_of(contestant("contender.adapt"), contestant("contender.slow"));
  PlannedTask& task = plan.tasks[0];
  // The machine of the last ten rows is twice as slow; two of them are observed.
  const Table& targets = task.tables.at("targets");
  std::vector<double> cost = targets.numbers("cost");
  const auto rows = static_cast<std::int64_t>(cost.size());
  Fold fold;
  fold.name = "other machine";
  for (std::int64_t row = 0; row < rows; ++row) {
    if (row >= rows - 10) cost[static_cast<std::size_t>(row)] *= 2;
    (row < rows - 10 ? fold.train : row < rows - 8 ? fold.observe : fold.test).push_back(row);
  }
  task.tables["targets"] = with_values(targets, "cost", cost);
  task.folds = {fold};
  const auto ratio = [&](std::size_t job) {
    const JobResult result = run_job(plan, plan_jobs(plan).at(job), {});
    EXPECT_EQ(result.record.outcome, Outcome::kOk) << result.record.message;
    const std::vector<double> said = job_tables(result).at("predictions").numbers("cost");
    double sum = 0, truth = 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
      sum += said[i];
      truth += cost[static_cast<std::size_t>(fold.test[i])];
    }
    return sum / truth;
  };
  EXPECT_NEAR(ratio(0), 1, 0.15) << "observed";
  EXPECT_NEAR(ratio(1), 0.5, 0.1) << "it does not observe, and answers as it was fitted";
}

TEST_F(JobsTest, TheDigestDependsOnThePredictionsAlone) {
  const ComparePlan plan = plan_of(contestant("contender.slow"));
  const Job job = plan_jobs(plan).at(0);
  const JobResult once = run_job(plan, job, {}), again = run_job(plan, job, {});
  EXPECT_EQ(once.record.digest, again.record.digest);
  EXPECT_NE(once.bytes, again.bytes) << "timings differ, but not the digest";
  const ComparePlan other = plan_of(contestant("contender.slow", {{"bias", "0.1"}}));
  EXPECT_NE(run_job(other, plan_jobs(other).at(0), {}).record.digest, once.record.digest);
}

TEST_F(JobsTest, KeysChangeWithEverythingThatChangesAnswers) {
  const auto key = [](auto&& change) {
    ComparePlan plan = plan_of(contestant("contender.slow"));
    change(plan);
    return plan_jobs(plan).at(0).key;
  };
  const std::string plain = key([](ComparePlan&) {});
  EXPECT_EQ(key([](ComparePlan& p) { p.jobs_at_once = 7; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.run.seed = 2; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.shuffle_labels = true; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.limits.timeout_s = 60; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.limits.memory_bytes = 1u << 30; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.tasks[0].task.hash = "other"; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.tasks[0].folds[0].train.pop_back(); }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.tasks[0].folds[0].observe.push_back(0); }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.contestants[0].facts.library_sha256 = "other"; }), plain);
  EXPECT_NE(key([](ComparePlan& p) { p.contestants[0].files_digest = "other"; }), plain);
  EXPECT_NE(key([](ComparePlan& p) {
              p.contestants[0] = contestant("contender.slow", {{"bias", "0.5"}});
            }),
            plain);
}

TEST_F(JobsTest, ACrashAHangAndGreedAreOutcomes) {
  const auto outcome = [](const std::string& mode, double timeout, std::uint64_t memory) {
    ComparePlan plan = plan_of(contestant("probe.predictor", {{"mode", mode}}));
    plan.limits.timeout_s = timeout;
    plan.limits.memory_bytes = memory;
    const JobResult result = run_job(plan, plan_jobs(plan).at(0), {});
    EXPECT_FALSE(result.record.message.empty()) << mode;
    return read_job_result(result.bytes).record.outcome;
  };
  EXPECT_EQ(outcome("crash", 0, 0), Outcome::kCrashed);
  EXPECT_EQ(outcome("leave", 0, 0), Outcome::kCrashed);
  EXPECT_EQ(outcome("stubborn", 0.5, 0), Outcome::kTimeout);
  EXPECT_EQ(outcome("eat", 0, std::uint64_t{400} << 20), Outcome::kOom);
}

TEST_F(JobsTest, RowsBeforeAFailureAreKept) {
  const ComparePlan plan = plan_of(contestant("probe.predictor", {{"mode", "midstream"}}));
  const JobResult result = run_job(plan, plan_jobs(plan).at(0), {});
  EXPECT_NE(result.record.outcome, Outcome::kOk);
  const std::vector<std::string> status = statuses(result);
  ASSERT_THAT(status, SizeIs(10));
  EXPECT_EQ(status[0], "ok");
  EXPECT_THAT(status[9], StartsWith("failed: "));
}

TEST_F(JobsTest, APredictWorkerFindsNoTargetAnywhere) {
  const auto job_statuses = [](const std::vector<std::pair<std::string, std::string>>& options) {
    std::vector<PlannedContestant> one;
    one.push_back(contestant("contender.snoop", options));
    const ComparePlan plan = small_plan(std::move(one), {40, 8, 2, true});
    const JobResult result = run_job(plan, plan_jobs(plan).at(0), {});
    EXPECT_EQ(result.record.outcome, Outcome::kOk) << result.record.message;
    return statuses(result);
  };
  EXPECT_THAT(job_statuses({}), Each("ok"));
  EXPECT_THAT(job_statuses({{"remember", "true"}}), Each("ok"))
      << "a model may hold training targets";

  // The same plugin does find what is there: in memory as numbers, in the environment as text, in
  // files as a table.
  EXPECT_THAT(job_statuses({{"remember", "true"}, {"look_for", "all"}}),
              Each(AllOf(StartsWith("leak: "), HasSubstr("first in memory"))));
  const std::string value =
      std::to_string(static_cast<std::int64_t>(contender::kBase) + contender::key(2));
  setenv("OMEN_TEST_SECRET", value.c_str(), 1);
  EXPECT_THAT(job_statuses({}), Each(HasSubstr("first in memory")));
  unsetenv("OMEN_TEST_SECRET");
  write_dataset(directory_ / "tmp/forgotten.omt",
                {{"targets", test::small_task({40, 8, 2, true}).tables.at("targets")}});
  EXPECT_THAT(job_statuses({}), Each(HasSubstr("forgotten.omt")));
}

TEST_F(JobsTest, ATestSetHoldsNeitherTargetsNorForeignVocabulary) {
  const PlannedTask task = test::small_task();
  const ComponentRef ref = test::fixtures().component(OMEN_PREDICTOR, "contender.slow");
  const FoldData data = fold_data(task, task.folds[0], *ref.info, false);
  EXPECT_EQ(data.train.count("targets"), 1u);
  EXPECT_EQ(data.test.count("targets"), 0u);
  const PlannedTask few = test::small_task({40, 40, 4, false});
  const FoldData cut = fold_data(few, few.folds[0], *ref.info, false);
  EXPECT_EQ(cut.train.at("workloads").strings("group").value_count(), 30);
  EXPECT_EQ(cut.test.at("workloads").strings("group").value_count(), 10);
}

// Two candidates a workload, with true costs; `target` is what is predicted.
PlannedTask decision_task(const std::string& target, bool per_candidate) {
  PlannedTask task = test::small_task();
  task.task.targets[0].name = target;
  task.task.decision = TaskDecision{"", "cost", Direction::kLower, ""};
  std::vector<std::int64_t> owner;
  std::vector<std::int32_t> id;
  std::vector<double> memory, speed, cost;
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int32_t c = 0; c < 2; ++c) {
      owner.push_back(i);
      id.push_back(c);
      memory.push_back(c ? 16 : 4);
      speed.push_back(1 + c);
      cost.push_back((1 + static_cast<double>(i) / 4) / (1 + c));
    }
  task.tables["candidates"] = TableBuilder()
                                  .add("workload_id", owner)
                                  .add("candidate_id", id)
                                  .add("memory_gb", memory)
                                  .add("speed", speed)
                                  .finish();
  task.tables["candidate_costs"] =
      TableBuilder().add("workload_id", owner).add("candidate_id", id).add("cost", cost).finish();
  if (per_candidate) task.tables["targets"] = task.tables["candidate_costs"];
  return task;
}

TEST_F(JobsTest, EveryCandidateIsPredictedWhetherOrNotThePluginKnowsCandidates) {
  for (const char* component : {"contender.slow", "baseline.ridge"}) {
    ComparePlan plan = plan_of(contestant(component));
    plan.tasks[0] = decision_task("cost", true);
    const JobResult result = run_job(plan, plan_jobs(plan).at(0), {});
    ASSERT_EQ(result.record.outcome, Outcome::kOk) << component << ": " << result.record.message;
    const Tables tables = job_tables(result);
    const Table& rows = tables.at("predictions");
    EXPECT_EQ(rows.rows(), 20) << component;
    EXPECT_THAT(rows.numbers("candidate_id"), Contains(1)) << component;
    EXPECT_THAT(rows.numbers("workload_id"), testing::IsSupersetOf({0.0, 4.0, 36.0})) << component;
  }
}

TEST_F(JobsTest, AScorerDecidesInItsOwnWorkerAndItsFailureIsAnOutcome) {
  ComparePlan plan = plan_of(contestant("contender.slow"));
  plan.tasks[0] = decision_task("cost_ms", false);
  plan.tasks[0].tables["targets"] =
      TableBuilder()
          .add_column(plan.tasks[0].tables["targets"], 0)
          .add("cost_ms", plan.tasks[0].tables["targets"].numbers("cost"))
          .finish();
  plan.tasks[0].scorer = test::fixtures().component(OMEN_SCORER, "exerciser.rank");
  const JobResult result = run_job(plan, plan_jobs(plan).at(0), {});
  ASSERT_EQ(result.record.outcome, Outcome::kOk) << result.record.message;
  const Tables tables = job_tables(result);
  const Table& scores = tables.at("scores");
  EXPECT_EQ(scores.rows(), 20);
  EXPECT_THAT(scores.numbers("rank"), testing::IsSupersetOf({0.0, 1.0}));

  plan.tasks[0].scorer = test::fixtures().component(OMEN_SCORER, "probe.cheapest");
  const JobResult bad = run_job(plan, plan_jobs(plan).at(0), {});
  EXPECT_NE(bad.record.outcome, Outcome::kOk);
  EXPECT_THAT(bad.record.message, HasSubstr("scorer probe.cheapest"));
  EXPECT_EQ(job_tables(bad).at("predictions").rows(), 10) << "predictions are kept";
}

TEST_F(JobsTest, ATrainedModelOnlyPredicts) {
  ComparePlan plan = plan_of(contestant("contender.slow"));
  const Job job = plan_jobs(plan).at(0);
  const JobResult fitted = run_job(plan, job, {});
  EXPECT_THAT(fitted.record.model_digest, SizeIs(64));
  // The model of fold 0, as training would have left it.
  container::Writer model;
  const PlannedContestant& one = plan.contestants[0];
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"omen.format", "model/1"}, {"omen.component", one.facts.component}, {"target", "cost"}})
    model.put_meta(key, value);
  const double slope = 7;
  model.put_tensor("slope", "F64", {1}, &slope, sizeof slope);
  model.write(directory_ / "model.omen");
  plan.contestants[0].model = directory_ / "model.omen";
  const JobResult trained = run_job(plan, job, {});
  ASSERT_EQ(trained.record.outcome, Outcome::kOk) << trained.record.message;
  EXPECT_EQ(trained.cost.fit_s, 0);
  EXPECT_EQ(job_tables(trained).at("predictions").numbers("cost").at(0), 7.0);
  EXPECT_TRUE(fs::exists(directory_ / "model.omen"));
}

TEST_F(JobsTest, FinishedFoldsAreVerifiedAndNotRunAgain) {
  const ComparePlan plan = plan_of(contestant("contender.slow"));
  const std::vector<Job> jobs = plan_jobs(plan);
  int ran = 0;
  const JobRunner counting = [&](const std::vector<Job>& pending, const JobDone& done) {
    ran = static_cast<int>(pending.size());
    local_runner(plan, {})(pending, done);
  };
  const auto run = [&] {
    return run_jobs(plan, jobs, store(), counting, [](std::size_t, std::size_t) {});
  };
  const std::vector<JobResult> first = run();
  EXPECT_EQ(ran, 4);
  ran = 0;
  const std::vector<JobResult> second = run();
  EXPECT_EQ(ran, 0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_FALSE(first[i].record.reused);
    EXPECT_TRUE(second[i].record.reused);
    EXPECT_EQ(first[i].bytes, second[i].bytes);
  }
}

TEST_F(JobsTest, ADamagedResultIsDoneAgainWhereverTheDamageIs) {
  const ComparePlan plan = plan_of(contestant("contender.slow"));
  const Job job = plan_jobs(plan).at(0);
  const JobResult result = run_job(plan, job, {});
  for (std::size_t at = 8; at < result.bytes.size(); at += result.bytes.size() / 97) {
    store().put(job, result);
    ASSERT_TRUE(store().find(job));
    JobResult damaged = result;
    damaged.bytes[at] ^= 1;
    store().put(job, damaged);
    EXPECT_FALSE(store().find(job)) << "bit flipped at " << at;
    EXPECT_FALSE(fs::exists(file_of(job)));
  }
  store().put(job, result);
  fs::resize_file(file_of(job), result.bytes.size() / 2);
  EXPECT_FALSE(store().find(job));
}

TEST_F(JobsTest, AResultOfAnotherJobIsNotTaken) {
  const ComparePlan plan = plan_of(contestant("contender.slow"));
  const std::vector<Job> jobs = plan_jobs(plan);
  store().put(jobs[1], run_job(plan, jobs[0], {}));
  EXPECT_FALSE(store().find(jobs[1]));
}

TEST_F(JobsTest, ThreadsGiveWhatOneThreadGives) {
  ComparePlan plan = plan_of(contestant("contender.slow", {{"noise", "0.1"}}),
                             contestant("contender.slow", {{"bias", "0.1"}}));
  const std::vector<Job> jobs = plan_jobs(plan);
  const auto digests = [&](unsigned threads) {
    plan.jobs_at_once = threads;
    std::map<std::string, std::string> all;
    local_runner(plan, {})(jobs, [&](const Job& job, const JobResult& result) {
      EXPECT_TRUE(all.emplace(job.key, result.record.digest).second);
    });
    return all;
  };
  const auto one = digests(1);
  EXPECT_EQ(one.size(), jobs.size());
  EXPECT_EQ(digests(3), one);
}

TEST_F(JobsTest, GivingUpEndsTheJobsAndKeepsTheFinishedOnes) {
  ComparePlan plan =
      plan_of(contestant("contender.slow"), contestant("contender.slow", {{"pause", "600"}}));
  const std::vector<Job> jobs = plan_jobs(plan);
  std::atomic<bool> enough{false};
  RunHooks hooks;
  hooks.is_cancelled = [&] { return enough.load(); };
  const auto started = std::chrono::steady_clock::now();
  const auto error = error_of([&] {
    run_jobs(plan, jobs, store(), local_runner(plan, hooks),
             [&](std::size_t, std::size_t) { enough = true; });
  });
  EXPECT_THAT(error, IsError(OMEN_CANCELLED, testing::_));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(60));
  EXPECT_TRUE(store().find(jobs[0]));
  EXPECT_FALSE(store().find(jobs[1]));
}

TEST_F(JobsTest, AContestantThatComesTwiceRunsOnce) {
  const ComparePlan plan = plan_of(contestant("contender.slow"), contestant("contender.slow"));
  const std::vector<Job> jobs = plan_jobs(plan);
  int ran = 0;
  const JobRunner counting = [&](const std::vector<Job>& pending, const JobDone& done) {
    ran = static_cast<int>(pending.size());
    local_runner(plan, {})(pending, done);
  };
  std::size_t last = 0;
  const auto results =
      run_jobs(plan, jobs, store(), counting, [&](std::size_t done, std::size_t) { last = done; });
  EXPECT_EQ(ran, 4);
  EXPECT_EQ(last, 8u);
  EXPECT_EQ(results[0].record.digest, results[1].record.digest);
}

TEST_F(JobsTest, ARunDirectoryIsFoundAgainUntilItIsFinished) {
  const std::string digest(64, 'a');
  fs::path first;
  {
    const RunDirectory run = RunDirectory::open(directory_ / "runs", digest);
    first = run.path();
    EXPECT_FALSE(run.resumed());
    const RunDirectory beside = RunDirectory::open(directory_ / "runs", digest);
    EXPECT_NE(beside.path(), first) << "two processes never share a run";
  }
  RunDirectory again = RunDirectory::open(directory_ / "runs", digest);
  EXPECT_EQ(again.path(), first);
  EXPECT_TRUE(again.resumed());
  again.finish();
  EXPECT_NE(RunDirectory::open(directory_ / "runs", digest).path(), first);
}

}  // namespace
}  // namespace omen::host
