// SPDX-License-Identifier: Apache-2.0
// Power limits: the learnt response, the node's plan, and the front of time and energy.
#include <gtest/gtest.h>

#include <cmath>

#include "energy/cap_response.hpp"
#include "energy/node_plan.hpp"

namespace omen::power {
namespace {

std::vector<MeasuredCap> capped_rows() {
  std::vector<MeasuredCap> rows;
  for (const double free_w : {180.0, 210.0, 240.0})
    for (double limit = 100; limit < 250; limit += 25) {
      MeasuredCap row;
      row.job = {"gpu", limit, 250, free_w, 10};
      row.cost.watts = std::min(free_w, limit);
      row.cost.seconds = 10 * std::pow(free_w / row.cost.watts, 0.6);
      rows.push_back(row);
    }
  return rows;
}

TEST(CapResponse, answers_jobs_between_those_it_saw) {
  CapResponse model;
  model.fit(capped_rows());
  const CappedJob job{"gpu", 150, 250, 225, 20};
  const CappedCost said = model.ask(job);
  EXPECT_NEAR(said.watts, 150, 8);
  EXPECT_NEAR(said.seconds, 20 * std::pow(225.0 / 150, 0.6), 1.5);
  EXPECT_TRUE(model.knows(job));
  EXPECT_FALSE(model.knows({"gpu", 50, 250, 225, 20}));
  EXPECT_FALSE(model.knows({"other", 150, 250, 225, 20}));
}

TEST(CapResponse, without_a_limit_nothing_changes) {
  CapResponse model;
  model.fit(capped_rows());
  const CappedCost said = model.ask({"gpu", 250, 250, 225, 20});
  EXPECT_EQ(said.watts, 225);
  EXPECT_EQ(said.seconds, 20);
}

TEST(CapResponse, energy_alone_is_learnt_and_comes_back_from_its_file) {
  std::vector<MeasuredCap> rows = capped_rows();
  for (MeasuredCap& row : rows) row.cost = {row.cost.joules() / row.job.free_s, row.job.free_s};
  CapResponse model, loaded;
  model.fit(rows, CapAnswers::energy);
  const CappedJob job{"gpu", 150, 250, 225, 20};
  EXPECT_NEAR(model.ask(job).joules(), 150 * 20 * std::pow(225.0 / 150, 0.6), 250);
  learn::MemoryState state;
  model.save(state);
  loaded.load(state);
  EXPECT_EQ(loaded.answers(), CapAnswers::energy);
  EXPECT_NEAR(loaded.ask(job).joules(), model.ask(job).joules(), 1e-6);
  EXPECT_TRUE(loaded.knows(job));
}

TEST(NodePlan, takes_the_best_of_each_job_where_they_fit) {
  const std::vector<std::vector<JobChoice>> jobs = {{{300, 10}, {200, 12}}, {{250, 8}, {150, 20}}};
  EXPECT_EQ(plan_node(jobs, 1000), (std::vector<std::size_t>{1, 0}));
}

TEST(NodePlan, trades_where_a_watt_is_cheapest_and_says_when_nothing_fits) {
  const std::vector<std::vector<JobChoice>> jobs = {{{200, 12}, {150, 17}}, {{250, 8}, {150, 20}}};
  const auto plan = plan_node(jobs, 400);
  ASSERT_TRUE(plan);
  EXPECT_EQ(*plan, (std::vector<std::size_t>{1, 0}));
  EXPECT_FALSE(plan_node(jobs, 250));
}

TEST(NodePlan, front_holds_what_nothing_beats) {
  EXPECT_EQ(pareto_front({{300, 10}, {200, 12}, {280, 12}, {100, 30}}),
            (std::vector<bool>{true, true, false, false}));
}

}  // namespace
}  // namespace omen::power
