// SPDX-License-Identifier: Apache-2.0
// From stored answers to a comparison: pairing, coverage, repeats, classes, nodes, candidates,
// decisions.
#include "compare/assemble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/job_result.hpp"
#include "support/compare_plan.hpp"

namespace omen::host {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using Answer = std::function<Tables(const PlannedTask& task, const Fold& fold)>;

// A plan whose contestants answer by a function instead of running.
struct Staged {
  ComparePlan plan;
  std::vector<Answer> answers;
  std::map<std::pair<std::size_t, std::string>, Outcome> outcomes;  // (contestant, fold)

  void add(const std::string& label, Answer answer, bool reference = false) {
    PlannedContestant contestant;
    contestant.facts.label = contestant.facts.component = label;
    contestant.facts.reference = reference;
    plan.contestants.push_back(std::move(contestant));
    answers.push_back(std::move(answer));
  }

  Comparison compare(const AssemblySettings& settings = {}) const {
    const std::vector<Job> jobs = plan_jobs(plan);
    std::vector<JobResult> results;
    for (const Job& job : jobs) {
      const PlannedTask& task = plan.tasks[job.task];
      const Fold& fold = task.folds[job.fold];
      JobRecord record{plan.contestants[job.contestant].facts.label,
                       task_label(task),
                       fold.name,
                       Outcome::kOk,
                       "",
                       "",
                       false};
      Tables tables = answers[job.contestant](task, fold);
      if (const auto bad = outcomes.find({job.contestant, fold.name}); bad != outcomes.end()) {
        record.outcome = bad->second;
        record.message = "it fell";
        tables.clear();
      }
      results.push_back(make_job_result(job, record, {0.5, 1.5, 2, 3, 1000}, tables));
    }
    return assemble(plan, jobs, results, settings);
  }
};

std::vector<double> truths(const PlannedTask& task) {
  return task.tables.at("targets").numbers("cost");
}

// The truth times a factor; rows of `refused` get a reason instead.
Answer scaled(double factor, std::vector<std::int64_t> refused = {}) {
  return [=](const PlannedTask& task, const Fold& fold) {
    std::vector<double> cost;
    std::vector<std::string> status;
    for (const std::int64_t row : fold.test) {
      const bool refuse = std::find(refused.begin(), refused.end(), row) != refused.end();
      cost.push_back(refuse ? std::nan("") : factor * truths(task)[static_cast<std::size_t>(row)]);
      status.push_back(refuse ? "op 'CudnnRNN' unknown" : "ok");
    }
    return Tables{{"predictions", TableBuilder()
                                      .add("workload_id", fold.test)
                                      .add("cost", cost)
                                      .add_categories("status", status)
                                      .finish()}};
  };
}

Staged staged(const test::SmallTask& wanted = {}) {
  Staged out;
  out.plan.tasks.push_back(test::small_task(wanted));
  return out;
}

TEST(AssembleTest, PairsByWorkloadAndCountsRefusals) {
  Staged stage = staged();
  stage.add("base", scaled(1.2));
  stage.add("better", scaled(1.1, {3, 17}));
  const Comparison comparison = stage.compare();
  const TargetResult& target = comparison.tasks.at(0).targets.at(0);
  EXPECT_EQ(target.loss_unit, "%");
  EXPECT_EQ(comparison.tasks[0].workloads, 40);
  EXPECT_EQ(comparison.tasks[0].groups, 8);
  const ContestantResult& better = target.contestants.at(1);
  EXPECT_EQ(better.coverage.workloads, 40);
  EXPECT_EQ(better.coverage.answered, 38);
  EXPECT_THAT(better.coverage.refusals, ElementsAre(Pair("op 'CudnnRNN' unknown", 2)));
  EXPECT_EQ(better.versus_baseline.rows, 38);
  EXPECT_EQ(better.versus_baseline.wins, 38);
  EXPECT_THAT(better.median_loss, DoubleNear(10, 1e-9));
  EXPECT_THAT(better.versus_baseline.difference, DoubleNear(-10, 1e-9));
  EXPECT_EQ(better.versus_baseline.verdict, stats::Verdict::kBetter);
  EXPECT_EQ(target.contestants[0].versus_baseline.verdict, stats::Verdict::kBaseline);
  ASSERT_THAT(target.rows, SizeIs(40));
  EXPECT_TRUE(std::isnan(target.rows[3].loss[1]));
  EXPECT_EQ(target.rows[3].status[1], "op 'CudnnRNN' unknown");
  EXPECT_EQ(target.rows[3].name, "w3");
  EXPECT_THAT(comparison.tasks[0].costs[1].fit_s, DoubleNear(1.5, 1e-12));
}

TEST(AssembleTest, ACrashedFoldIsARowOfTheTableAndNotTheEnd) {
  Staged stage = staged();
  stage.add("base", scaled(1.2));
  stage.add("falls", scaled(1.1));
  stage.outcomes[{1, "2"}] = Outcome::kCrashed;
  const Comparison comparison = stage.compare();
  const ContestantResult& falls = comparison.tasks[0].targets[0].contestants[1];
  EXPECT_EQ(falls.coverage.answered, 30);
  EXPECT_THAT(falls.coverage.refusals, ElementsAre(Pair("CRASHED: it fell", 10)));
  EXPECT_EQ(falls.versus_baseline.rows, 30);
  EXPECT_THAT(comparison.jobs, Contains(Field(&JobRecord::outcome, Outcome::kCrashed)));
}

TEST(AssembleTest, OneThatNeverAnswersHasNoVerdict) {
  Staged stage = staged();
  stage.add("base", scaled(1.2));
  stage.add("falls", scaled(1.1));
  for (const char* fold : {"0", "1", "2", "3"}) stage.outcomes[{1, fold}] = Outcome::kTimeout;
  const ContestantResult falls = stage.compare().tasks[0].targets[0].contestants[1];
  EXPECT_EQ(falls.coverage.answered, 0);
  EXPECT_EQ(falls.versus_baseline.verdict, stats::Verdict::kDifferencesOnly);
  EXPECT_TRUE(std::isnan(falls.median_loss));
}

TEST(AssembleTest, RepeatsAreAveragedPerRowAndARefusalInOneCountsForAll) {
  Staged stage = staged();
  PlannedTask& task = stage.plan.tasks[0];
  const std::vector<Fold> once = task.folds;
  for (Fold fold : once) {
    fold.name = "r1." + fold.name;
    fold.repeat = 1;
    task.folds.push_back(fold);
  }
  stage.add("base", scaled(1.2));
  stage.add("varies", [](const PlannedTask& t, const Fold& fold) {
    return scaled(fold.repeat ? 1.3 : 1.1, fold.repeat ? std::vector<std::int64_t>{5}
                                                       : std::vector<std::int64_t>{})(t, fold);
  });
  const TargetResult target = stage.compare().tasks[0].targets[0];
  ASSERT_THAT(target.rows, SizeIs(40)) << "one row a workload";
  EXPECT_THAT(target.rows[0].loss[1], DoubleNear(20, 1e-9));
  EXPECT_THAT(target.rows[0].predicted[1], DoubleNear(1.2 * target.rows[0].truth, 1e-9));
  EXPECT_TRUE(std::isnan(target.rows[5].loss[1]));
  EXPECT_EQ(target.contestants[1].coverage.answered, 39);
}

TEST(AssembleTest, EqualContestantsAreEquivalent) {
  Staged stage = staged();
  stage.add("base", scaled(1.2));
  stage.add("same", scaled(1.2));
  EXPECT_EQ(stage.compare().tasks[0].targets[0].contestants[1].versus_baseline.verdict,
            stats::Verdict::kEquivalent);
}

TEST(AssembleTest, AWideRegionOfPracticalEquivalenceHoldsForThatTaskOnly) {
  Staged stage = staged();
  stage.plan.tasks[0].task.rope = 0.9;
  PlannedTask strict = test::small_task();
  strict.task.name = "strict";
  stage.plan.tasks.push_back(std::move(strict));
  stage.add("base", scaled(1.2));
  stage.add("better", scaled(1.1));
  const Comparison comparison = stage.compare();
  EXPECT_EQ(comparison.tasks[0].targets[0].contestants[1].versus_baseline.verdict,
            stats::Verdict::kEquivalent);
  EXPECT_EQ(comparison.tasks[1].targets[0].contestants[1].versus_baseline.verdict,
            stats::Verdict::kBetter);
  AssemblySettings wide;
  wide.rope = 0.9;
  EXPECT_EQ(stage.compare(wide).tasks[1].targets[0].contestants[1].versus_baseline.verdict,
            stats::Verdict::kEquivalent);
}

TEST(AssembleTest, HolmCountsContestantsAndTargetsButNotReferences) {
  Staged stage = staged();
  stage.add("base", scaled(1.2));
  stage.add("a", scaled(1.1));
  const double alone = stage.compare().tasks[0].targets[0].contestants[1].versus_baseline.p_holm;
  stage.add("reference", scaled(1.5), true);
  EXPECT_EQ(stage.compare().tasks[0].targets[0].contestants[1].versus_baseline.p_holm, alone);
  Staged two = staged();
  two.add("base", scaled(1.2));
  two.add("a", scaled(1.1));
  two.add("b", scaled(1.3));
  EXPECT_NEAR(two.compare().tasks[0].targets[0].contestants[1].versus_baseline.p_holm, 2 * alone,
              1e-12);
}

TEST(AssembleTest, FewGroupsGiveDifferencesOnly) {
  Staged stage = staged({40, 4, 4, false});
  stage.add("base", scaled(1.2));
  stage.add("better", scaled(1.1));
  const stats::PairedResult pair =
      stage.compare().tasks[0].targets[0].contestants[1].versus_baseline;
  EXPECT_EQ(pair.verdict, stats::Verdict::kDifferencesOnly);
  EXPECT_THAT(pair.difference, DoubleNear(-10, 1e-9));
}

TEST(AssembleTest, GroupAveragesWeighGroupsAlike) {
  Staged stage = staged({9, 3, 3, false});
  PlannedTask& task = stage.plan.tasks[0];
  const std::vector<std::string> groups{"a", "a", "a", "a", "a", "a", "b", "b", "c"};
  task.tables["workloads"] =
      with_column(task.tables["workloads"], category_column("group", groups), 0);
  task.task.average = Average::kGroup;
  stage.add("base", [](const PlannedTask& t, const Fold& fold) {
    std::vector<double> cost;
    for (const std::int64_t row : fold.test)  // losses 0 in a, 50 in b, 100 in c
      cost.push_back(truths(t)[static_cast<std::size_t>(row)] * (row < 6 ? 1 : row < 8 ? 1.5 : 2));
    return Tables{
        {"predictions", TableBuilder().add("workload_id", fold.test).add("cost", cost).finish()}};
  });
  EXPECT_THAT(stage.compare().tasks[0].targets[0].contestants[0].mean_loss, DoubleNear(50, 1e-9));
  task.task.average = Average::kRow;
  EXPECT_THAT(stage.compare().tasks[0].targets[0].contestants[0].mean_loss,
              DoubleNear(200.0 / 9, 1e-9));
}

// Every third row is "gpu".
PlannedTask class_task() {
  PlannedTask task = test::small_task();
  task.task.targets = {{"device", "", Direction::kLower, TargetKind::kClass, Loss::kZeroOne}};
  std::vector<std::int64_t> ids;
  std::vector<std::string> device;
  for (std::int64_t i = 0; i < 40; ++i) {
    ids.push_back(i);
    device.push_back(i % 3 == 0 ? "gpu" : "cpu");
  }
  task.tables["targets"] =
      TableBuilder().add("workload_id", ids).add_categories("device", device).finish();
  return task;
}

Answer always(const std::string& label, bool probabilities) {
  return [=](const PlannedTask&, const Fold& fold) {
    TableBuilder builder;
    builder.add("workload_id", fold.test)
        .add_categories("device", std::vector<std::string>(fold.test.size(), label));
    if (probabilities)
      builder.add("device.p.cpu", std::vector<double>(fold.test.size(), 0.7))
          .add("device.p.gpu", std::vector<double>(fold.test.size(), 0.3));
    return Tables{{"predictions", builder.finish()}};
  };
}

TEST(AssembleTest, ClassesHaveAConfusionAndWrongNamesAreWrong) {
  Staged stage;
  stage.plan.tasks.push_back(class_task());
  stage.add("cpu", always("cpu", true));
  stage.add("npu", always("npu", false));
  const TargetResult target = stage.compare().tasks[0].targets[0];
  EXPECT_THAT(target.contestants[0].mean_loss, DoubleNear(14.0 / 40, 1e-9));
  EXPECT_THAT(target.contestants[1].mean_loss, DoubleNear(1, 1e-9));
  EXPECT_THAT(target.contestants[0].confusion.classes, Contains("gpu"));
  EXPECT_THAT(target.contestants[1].confusion.classes, Contains("npu"));
  EXPECT_EQ(target.rows[0].truth_class, "gpu");
  EXPECT_EQ(target.rows[0].predicted_class[1], "npu");
  EXPECT_THAT(target.contestants[0].metrics, Contains(Field(&stats::Metric::name, "log_loss")));
}

TEST(AssembleTest, LogLossNeedsProbabilities) {
  Staged stage;
  stage.plan.tasks.push_back(class_task());
  stage.plan.tasks[0].task.targets[0].loss = Loss::kLogLoss;
  stage.add("sure", always("cpu", true));
  stage.add("mute", always("cpu", false));
  const TargetResult target = stage.compare().tasks[0].targets[0];
  EXPECT_THAT(target.contestants[0].mean_loss,
              DoubleNear((-26 * std::log(0.7) - 14 * std::log(0.3)) / 40, 1e-9));
  EXPECT_EQ(target.contestants[1].coverage.answered, 0);
}

TEST(AssembleTest, NodesArePooledAndResampledByGroup) {
  Staged stage = staged();
  PlannedTask& task = stage.plan.tasks[0];
  task.task.per_node = true;
  std::vector<std::int64_t> owner;
  std::vector<std::int32_t> node;
  std::vector<double> cost;
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int32_t n = 0; n < 3; ++n) {
      owner.push_back(i);
      node.push_back(n);
      cost.push_back(10.0 + n);
    }
  task.tables["node_targets"] =
      TableBuilder().add("workload_id", owner).add("node_id", node).add("cost", cost).finish();
  const auto answer = [](double factor, bool forget_last) {
    return [=](const PlannedTask&, const Fold& fold) {
      std::vector<std::int64_t> rows;
      std::vector<std::int32_t> nodes;
      std::vector<double> values;
      for (const std::int64_t row : fold.test)
        for (std::int32_t n = 0; n < (forget_last ? 2 : 3); ++n) {
          rows.push_back(row);
          nodes.push_back(n);
          values.push_back(factor * (10.0 + n));
        }
      return Tables{{"node_predictions", TableBuilder()
                                             .add("workload_id", rows)
                                             .add("node_id", nodes)
                                             .add("cost", values)
                                             .finish()}};
    };
  };
  stage.add("base", answer(1.2, false));
  stage.add("better", answer(1.1, true));
  const TargetResult target = stage.compare().tasks[0].targets[0];
  EXPECT_EQ(target.contestants[0].coverage.workloads, 120);
  EXPECT_EQ(target.contestants[1].coverage.answered, 80);
  EXPECT_THAT(target.contestants[1].coverage.refusals, ElementsAre(Pair("no answer", 40)));
  EXPECT_EQ(target.contestants[1].versus_baseline.groups, 8);
  EXPECT_EQ(target.contestants[1].versus_baseline.verdict, stats::Verdict::kBetter);
}

// Two candidates a workload: "slow" costs 20, "fast" 10, and every fifth workload cannot run
// "fast".
PlannedTask decision_task(bool per_candidate) {
  PlannedTask task = per_candidate ? test::small_task() : class_task();
  task.task.decision = TaskDecision{"", "cost", Direction::kLower, "slow"};
  std::vector<std::int64_t> owner;
  std::vector<std::int32_t> id;
  std::vector<std::string> name;
  std::vector<double> cost;
  std::vector<bool> present;
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int32_t c = 0; c < 2; ++c) {
      owner.push_back(i);
      id.push_back(c);
      name.push_back(c ? "fast" : "slow");
      cost.push_back(c ? 10 : 20);
      present.push_back(!(c == 1 && i % 5 == 0));
    }
  task.tables["candidates"] = TableBuilder()
                                  .add("workload_id", owner)
                                  .add("candidate_id", id)
                                  .add_categories("name", name)
                                  .finish();
  TableBuilder costs;
  costs.add("workload_id", owner).add("candidate_id", id).add("cost", cost).valid(present);
  task.tables["candidate_costs"] = costs.finish();
  if (per_candidate) task.tables["targets"] = task.tables["candidate_costs"];
  return task;
}

TEST(AssembleTest, ADecisionIsJudgedByItsTrueCost) {
  Staged stage;
  stage.plan.tasks.push_back(decision_task(true));
  const auto answer = [](double slow, double fast) {
    return [=](const PlannedTask&, const Fold& fold) {
      std::vector<std::int64_t> rows;
      std::vector<std::int32_t> id;
      std::vector<double> cost;
      for (const std::int64_t row : fold.test)
        for (std::int32_t c = 0; c < 2; ++c) {
          rows.push_back(row);
          id.push_back(c);
          cost.push_back(c ? fast : slow);
        }
      return Tables{{"predictions", TableBuilder()
                                        .add("workload_id", rows)
                                        .add("candidate_id", id)
                                        .add("cost", cost)
                                        .finish()}};
    };
  };
  stage.add("slow", answer(1, 2));
  stage.add("fast", answer(2, 1));
  const TaskResult task = stage.compare().tasks[0];
  ASSERT_THAT(task.targets, SizeIs(2));
  EXPECT_EQ(task.targets[0].contestants[0].coverage.workloads, 72) << "costs that are known";
  const TargetResult& decision = task.targets[1];
  EXPECT_EQ(decision.target, "decision");
  ASSERT_THAT(decision.rows, SizeIs(40));
  EXPECT_THAT(decision.rows[1].loss, ElementsAre(DoubleNear(100, 1e-9), DoubleNear(0, 1e-9)));
  EXPECT_EQ(decision.rows[1].truth_class, "fast");
  EXPECT_EQ(decision.rows[0].truth_class, "slow") << "fast cannot run there";
  EXPECT_THAT(decision.rows[0].loss, ElementsAre(DoubleNear(0, 1e-9), DoubleNear(0, 1e-9)))
      << "an infeasible pick leaves the default";
  EXPECT_THAT(decision.contestants[1].mean_loss, DoubleNear(0, 1e-9));
  EXPECT_THAT(decision.contestants[0].mean_loss, DoubleNear(80, 1e-9));
}

TEST(AssembleTest, AClassNamesItsCandidate) {
  Staged stage;
  stage.plan.tasks.push_back(decision_task(false));
  const auto say = [](const std::string& label) {
    return [=](const PlannedTask&, const Fold& fold) {
      return Tables{{"predictions", TableBuilder()
                                        .add("workload_id", fold.test)
                                        .add_categories("device", std::vector<std::string>(
                                                                      fold.test.size(), label))
                                        .finish()}};
    };
  };
  stage.add("slow", say("slow"));
  stage.add("unknown", say("npu"));
  const TargetResult decision = stage.compare().tasks[0].targets.at(1);
  EXPECT_THAT(decision.contestants[0].mean_loss, DoubleNear(80, 1e-9));
  EXPECT_THAT(decision.contestants[1].coverage.refusals,
              ElementsAre(Pair("picked no candidate of this workload", 40)));
}

TEST(AssembleTest, AScorersRankDecides) {
  Staged stage;
  stage.plan.tasks.push_back(decision_task(true));
  stage.add("scored", [](const PlannedTask&, const Fold& fold) {
    std::vector<std::int64_t> rows;
    std::vector<std::int32_t> id, rank;
    for (const std::int64_t row : fold.test)
      for (std::int32_t c = 0; c < 2; ++c) {
        rows.push_back(row);
        id.push_back(c);
        rank.push_back(c ? 1 : 2);
      }
    return Tables{{"scores", TableBuilder()
                                 .add("workload_id", rows)
                                 .add("candidate_id", id)
                                 .add("rank", rank)
                                 .finish()}};
  });
  const TargetResult decision = stage.compare().tasks[0].targets.at(1);
  EXPECT_THAT(decision.contestants[0].mean_loss, DoubleNear(0, 1e-9));
}

TEST(AssembleTest, ThreeContestantsOverSixTasksAreRanked) {
  Staged stage;
  for (int i = 0; i < 6; ++i) {
    PlannedTask task = test::small_task();
    task.task.name = "t" + std::to_string(i);
    stage.plan.tasks.push_back(std::move(task));
  }
  stage.add("middle", scaled(1.2));
  stage.add("best", scaled(1.1));
  stage.add("worst", scaled(1.4));
  stage.add("reference", scaled(2), true);
  const Comparison comparison = stage.compare();
  EXPECT_THAT(comparison.ranking.mean_ranks, ElementsAre(2, 1, 3)) << "references are not ranked";
  EXPECT_LT(comparison.ranking.p, 0.05);
}

TEST(AssembleTest, AMissingResultTakesTheBaselinesLossInTheRankingAndIsFlagged) {
  Staged stage;
  for (int i = 0; i < 6; ++i) {
    PlannedTask task = test::small_task();
    task.task.name = "t" + std::to_string(i);
    stage.plan.tasks.push_back(std::move(task));
  }
  stage.add("base", scaled(1.2));
  stage.add("best", scaled(1.1));
  stage.add("absent", [](const PlannedTask& task, const Fold& fold) {
    return task.task.name == "t0" ? scaled(1, fold.test)(task, fold) : scaled(1.1)(task, fold);
  });
  const Comparison comparison = stage.compare();
  EXPECT_THAT(comparison.warnings, Contains(testing::HasSubstr("absent on t0")));
}

TEST(AssembleTest, GroupedResultsStandBesideTheirTask) {
  Staged stage = staged();
  PlannedTask grouped = test::small_task();
  grouped.grouped_of = 0;
  stage.plan.tasks[0].leaking_rows = 7;
  stage.plan.tasks.push_back(std::move(grouped));
  stage.add("base", scaled(1.2));
  stage.add("other", [](const PlannedTask& task, const Fold& fold) {
    return scaled(task.grouped_of ? 1.3 : 1.1)(task, fold);
  });
  const Comparison comparison = stage.compare();
  ASSERT_THAT(comparison.tasks, SizeIs(1));
  EXPECT_EQ(comparison.tasks[0].leaking_rows, 7);
  EXPECT_EQ(comparison.tasks[0].targets[0].contestants[1].versus_baseline.verdict,
            stats::Verdict::kBetter);
  EXPECT_EQ(comparison.tasks[0].grouped_targets.at(0).contestants[1].versus_baseline.verdict,
            stats::Verdict::kWorse);
}

}  // namespace
}  // namespace omen::host
