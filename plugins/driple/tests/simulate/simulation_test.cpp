// SPDX-License-Identifier: Apache-2.0
// Queues, plans and schedules worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "omen/testing/errors.hpp"
#include "simulate/job_queue.hpp"
#include "simulate/queue_forecast.hpp"
#include "simulate/queue_plan.hpp"
#include "simulate/queue_simulation.hpp"

namespace omen::driple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNot = std::numeric_limits<double>::quiet_NaN();

QueuedJob job(std::vector<double> believed, std::vector<double> truth, double arrival = 0) {
  return {"", arrival, std::move(believed), std::move(truth), {1, 0.5}};
}
const Fleet kTwo = {{"a", "b"}, {0, 1}};

TEST(QueuePlan, ShortJobsRunFirstAndEachWhereItIsFast) {
  const std::vector<WaitingJob> waiting = {{0, {4, 40}}, {1, {30, 3}}, {2, {1, 10}}};
  EXPECT_THAT(plan_queue(waiting, {0, 0}), ElementsAre(ElementsAre(2, 0), ElementsAre(1)));
}

TEST(QueuePlan, ABusyGpuIsAvoidedUntilItIsWorthIt) {
  const std::vector<WaitingJob> waiting = {{0, {5, 8}}};
  EXPECT_THAT(plan_queue(waiting, {2, 0}), ElementsAre(ElementsAre(0), IsEmpty()));
  EXPECT_THAT(plan_queue(waiting, {4, 0}), ElementsAre(IsEmpty(), ElementsAre(0)));
}

TEST(QueuePlan, WhatFitsNowhereIsNowhere) {
  EXPECT_THAT(plan_queue({{0, {kNot, kNot}}, {1, {kNot, 2}}}, {0, 0}),
              ElementsAre(IsEmpty(), ElementsAre(1)));
}

TEST(QueuePlan, MovesFindWhatTheFirstPlaceMisses) {
  // Greedily both short jobs go to the first GPU; the long one, 20 there and 100 on the second,
  // waits least where one of them makes room: 3 + 10 + 23 instead of 3 + 12 + 32.
  const std::vector<WaitingJob> waiting = {{0, {3, 3.5}}, {1, {9, 10}}, {2, {20, 100}}};
  const auto orders = plan_queue(waiting, {0, 0});
  EXPECT_THAT(orders, ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(Simulation, CompletionAndMakespanAreThoseWorkedByHand) {
  const std::vector<QueuedJob> jobs = {job({10, 20}, {10, 20}), job({10, 20}, {12, 20}),
                                       job({10, 20}, {10, 20})};
  // In turn: the first GPU runs jobs 0 and 2, the second job 1.
  const Schedule turns = simulate(jobs, kTwo, Policy::round_robin, 60);
  EXPECT_THAT(turns.completion_s, ElementsAre(10, 20, 20));
  EXPECT_EQ(turns.makespan_s, 20);
  // The GPU that jobs use best takes them all.
  const Schedule used = simulate(jobs, kTwo, Policy::efficiency, 60);
  EXPECT_THAT(used.completion_s, ElementsAre(10, 22, 32));
  EXPECT_DOUBLE_EQ(used.mean_completion_s(), 64.0 / 3);
}

TEST(Simulation, TheOracleKnowsWhatIsBelievedWrongly) {
  const std::vector<QueuedJob> jobs = {job({1, 100}, {100, 1})};
  EXPECT_EQ(simulate(jobs, kTwo, Policy::predicted, 60).makespan_s, 100);
  EXPECT_EQ(simulate(jobs, kTwo, Policy::oracle, 60).makespan_s, 1);
}

TEST(Simulation, AJobThatRunsOutOfMemoryArrivesAgainElsewhere) {
  const std::vector<QueuedJob> jobs = {job({10, 30}, {kNot, 30})};
  const Schedule schedule = simulate(jobs, kTwo, Policy::predicted, 60);
  ASSERT_EQ(schedule.placements.size(), 2U);
  EXPECT_TRUE(schedule.placements[0].failed);
  EXPECT_EQ(schedule.failures, 1U);
  EXPECT_THAT(schedule.completion_s, ElementsAre(90));
  const Schedule knowing = simulate(jobs, kTwo, Policy::oracle, 60);
  EXPECT_THAT(knowing.completion_s, ElementsAre(30));
}

TEST(Simulation, AJobThatNoGpuTakesIsRefusedOnce) {
  const std::vector<QueuedJob> jobs = {job({kNot, kNot}, {1, 1}), job({1, 2}, {kNot, kNot})};
  for (const Policy policy : {Policy::predicted, Policy::efficiency, Policy::round_robin}) {
    const Schedule schedule = simulate(jobs, kTwo, policy, 60);
    EXPECT_EQ(schedule.refused, 2U) << word(policy);  // the second after two failures
    EXPECT_EQ(schedule.failures, 2U) << word(policy);
    EXPECT_EQ(schedule.mean_completion_s(), 0) << word(policy);
  }
}

TEST(Simulation, JobsWaitForTheirArrivalAndIdleGpusTakeOverWaitingOnes) {
  // The first GPU is believed to be free at 10 but runs until 100; what waits for it moves.
  const std::vector<QueuedJob> jobs = {job({10, kNot}, {100, kNot}), job({25, 24}, {25, 24}, 1),
                                       job({kNot, 20}, {kNot, 20}, 1)};
  const Schedule schedule = simulate(jobs, kTwo, Policy::predicted, 60);
  EXPECT_THAT(schedule.completion_s, ElementsAre(100, 44, 20));
}

TEST(Simulation, ManyJobsEndOnceEach) {
  std::vector<QueuedJob> jobs;
  for (int i = 0; i < 500; ++i) {
    const double seconds = 1 + (i * 7919) % 101;
    jobs.push_back(job({seconds, 2 * seconds}, {1.1 * seconds, 1.9 * seconds}, i % 50));
  }
  for (const Policy policy :
       {Policy::predicted, Policy::efficiency, Policy::oracle, Policy::round_robin}) {
    const Schedule schedule = simulate(jobs, kTwo, policy, 60);
    ASSERT_EQ(schedule.placements.size(), jobs.size()) << word(policy);
    std::vector<double> free(2, 0);
    for (const Placement& placement : schedule.placements) {
      EXPECT_GE(placement.begin_s, jobs[placement.job].arrival_s);
      EXPECT_GE(placement.begin_s, free[placement.gpu]);
      free[placement.gpu] = placement.end_s;
    }
  }
}

TEST(JobQueue, ReadsJobsWithOptionsAndMeasuredTimes) {
  const std::vector<QueueRow> rows = parse_queue(
      "network,batch,epochs,samples,arrival_s,time_s.a100,time_s.v100\n"
      "resnet50,32,2,64k,0,10,\n\"a,b.onnx\",,1,100,3,,7\n",
      "queue.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "resnet50");
  EXPECT_EQ(rows[0].samples, 64000);
  EXPECT_THAT(rows[0].options, ElementsAre(std::pair<std::string, std::string>("batch", "32")));
  EXPECT_EQ(rows[0].measured_s.at("a100"), 10);
  EXPECT_TRUE(std::isnan(rows[0].measured_s.at("v100")));
  EXPECT_EQ(rows[1].network, "a,b.onnx");
  EXPECT_THAT(rows[1].options, IsEmpty());
}

TEST(JobQueue, SaysWhichLineIsWrong) {
  const auto error = [](const char* text) {
    return test::error_of([&] { parse_queue(text, "q.csv"); });
  };
  EXPECT_THAT(error("batch\n3\n"),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("no column network")));
  EXPECT_THAT(error("network\n"), test::IsError(OMEN_INVALID_DATA, HasSubstr("holds no job")));
  EXPECT_THAT(error("network,steps\na\n"),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("q.csv line 2: 1 cells for 2 columns")));
  EXPECT_THAT(error("network,steps\na,-4\n"),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("steps is '-4'")));
  EXPECT_THAT(error("network,network\na,a\n"),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("stands there twice")));
}

TEST(WorthTrying, WhatFitsNowhereMayBeTriedWhereItIsClose) {
  Device small, large;
  small.memory = 8e9, large.memory = 12e9;
  MemoryNeed need;
  need.reserve = 0;
  need.fixed = 9e9;
  EXPECT_THAT(worth_trying(need, {small, large, std::nullopt}), ElementsAre(false, true, false));
  need.fixed = 12.2e9;
  EXPECT_THAT(worth_trying(need, {small, large}), ElementsAre(false, true));
  need.fixed = 20e9;
  EXPECT_THAT(worth_trying(need, {small, large}), ElementsAre(false, false));
}

}  // namespace
}  // namespace omen::driple
