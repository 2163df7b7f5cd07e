// SPDX-License-Identifier: Apache-2.0
// Designs and schedules as candidates, and which of them wins.
#include "plan/plan_scorer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/ready_run.hpp"
#include "plan/plan_candidates.hpp"
#include "spec/spec_graph.hpp"

namespace omen::ensemble {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> column_of(const Table& table, const char* name) {
  std::vector<std::string> texts;
  const StringColumn column = table.strings(name);
  for (std::int64_t row = 0; row < table.rows(); ++row) texts.emplace_back(column[row]);
  return texts;
}

// The tables of a description with as many nodes as asked for.
void describe(MemoryDataset& data, int nodes) {
  TableCollector tables;
  put_graph(parse_spec(R"({"ensemble": "e", "machine": {"nodes": )" + std::to_string(nodes) +
                           R"(, "cores_per_node": 8}, "dataset": {"images": 1000}, "models": [
            {"name": "a", "images_per_s": [100, 190], "epochs": 9, "count": 2},
            {"name": "b", "images_per_s": [50, 95], "epochs": 8, "count": 2}]})",
                       "x.json"),
            TablesOut(tables.c()));
  for (auto& [name, table] : tables.take()) data.put(name, table);
}

struct Outcome {
  std::vector<std::string> names, reasons;  // best first
  std::vector<bool> feasible;
};

// Epochs as long as `seconds` says for each candidate.
Outcome ranked(MemoryDataset& data, const std::function<double(const std::string&)>& seconds,
               const char* objective = "time") {
  PlanScorerOptions options;
  options.objective = objective;
  PlanScorer scorer{options};
  const test::ReadyRun run;
  const Table candidates = scorer.enumerate(data.view(), run).read_all();
  const auto names = column_of(candidates, "name");
  std::vector<double> epoch, peak(names.size(), 1e6);
  for (const std::string& name : names) epoch.push_back(seconds(name));
  data.put("candidates", candidates);
  data.put("predictions", TableBuilder()
                              .add_column(candidates, candidates.index("workload_id"))
                              .add_column(candidates, candidates.index("candidate_id"))
                              .add("epoch_s", epoch)
                              .add("peak_per_s", peak)
                              .finish());
  const Table scores = scorer.score(data.view(), run).read_all();
  const auto id = scores.column<std::int32_t>("candidate_id");
  Outcome outcome;
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
    outcome.names.push_back(names[static_cast<std::size_t>(id[row])]);
    outcome.feasible.push_back(scores.boolean(scores.index("feasible"), row));
  }
  outcome.reasons = column_of(scores, "reason");
  return outcome;
}

TEST(PlanScorer, RefusesAnObjectiveThatNoModelPredicts) {
  MemoryDataset data;
  describe(data, 4);
  const auto equal = [](const std::string&) { return 10.0; };
  EXPECT_THAT(test::error_of([&] { ranked(data, equal, "cpu"); }),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("predicts no cpu_s_per_image"),
                            HasSubstr("--objective time")));
  EXPECT_THAT(test::error_of([&] { ranked(data, equal, "energy"); }),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("power_w")));
  EXPECT_FALSE(ranked(data, equal).names.empty());
}

TEST(PlanScorer, ListsDesignsGroupsAndPlanners) {
  MemoryDataset data;
  describe(data, 4);
  const auto names = column_of(
      PlanScorer{PlanScorerOptions{}}.enumerate(data.view(), test::ReadyRun()).read_all(), "name");
  for (const char* wanted : {"none", "all-shared", "all-shared in 2 groups", "single-broadcast p=4",
                             "multi-broadcast p=1", "fleet-g", "fleet-l", "lpt", "moldable"})
    EXPECT_THAT(names, Contains(wanted));
  EXPECT_THAT(names, Not(Contains(HasSubstr("shared-memory")))) << "there are four nodes";
}

TEST(PlanScorer, OneHostMayShareItsMemory) {
  MemoryDataset data;
  data.put("workloads",
           test::csv_table("workload_id,n_nodes,cores_per_node,ranks_per_node\n0,4,8,4\n"));
  const auto names = column_of(
      PlanScorer{PlanScorerOptions{}}.enumerate(data.view(), test::ReadyRun()).read_all(), "name");
  EXPECT_THAT(names, Contains("shared-memory p=4"));
  EXPECT_THAT(names, Not(Contains("fleet-g"))) << "no models are known";
}

TEST(PlanScorer, TheShortestTrainingWinsAndSaysWhatItGains) {
  MemoryDataset data;
  describe(data, 4);
  const Outcome outcome = ranked(data, [](const std::string& name) {
    return name == "all-shared" ? 15.0 : name == "none" ? 60.0 : 40.0;
  });
  EXPECT_EQ(outcome.names[0], "all-shared");
  EXPECT_THAT(outcome.reasons[0], HasSubstr("135 s, "));
  EXPECT_THAT(outcome.reasons[0], HasSubstr("x no sharing"));
}

TEST(PlanScorer, MoreModelsThanAcceleratorsNeedASchedule) {
  MemoryDataset data;
  describe(data, 2);
  const Outcome outcome = ranked(data, [](const std::string&) { return 20.0; });
  EXPECT_TRUE(outcome.feasible[0]);
  for (std::size_t i = 0; i < outcome.names.size(); ++i) {
    const bool scheduled = parse_planner(outcome.names[i]).has_value();
    EXPECT_EQ(outcome.feasible[i], scheduled) << outcome.names[i];
    if (!scheduled) {
      EXPECT_THAT(outcome.reasons[i], HasSubstr("4 models do not train at once on 2"));
    } else if (is_clairvoyant(*parse_planner(outcome.names[i]))) {
      EXPECT_THAT(outcome.reasons[i], HasSubstr("clairvoyant: knows the epochs"));
    }
  }
}

TEST(PlanScorer, ForeignCandidatesAreNamed) {
  MemoryDataset data;
  describe(data, 2);
  data.put("candidates", test::csv_table("workload_id,candidate_id,pipeline\n0,0,magic\n"));
  data.put("predictions",
           test::csv_table("workload_id,candidate_id,epoch_s,peak_per_s\n0,0,1.5,2.5\n"));
  EXPECT_THAT(
      test::error_of([&] { PlanScorer{PlanScorerOptions{}}.score(data.view(), test::ReadyRun()); }),
      test::IsError(OMEN_INVALID_DATA, HasSubstr("pipeline 'magic' is not known"),
                    HasSubstr("all-shared")));
}

}  // namespace
}  // namespace omen::ensemble
