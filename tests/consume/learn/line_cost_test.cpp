// SPDX-License-Identifier: Apache-2.0
// The built plugin finds a line, says how sure it is, and answers alike after saving and loading.
#include <gmock/gmock.h>

#include <omen/learn/correlation.hpp>
#include <omen/testing/csv_table.hpp>
#include <omen/testing/errors.hpp>
#include <omen/testing/plugin_client.hpp>
#include <string>

namespace {

namespace test = omen::test;

class LineCostTest : public testing::Test {
 protected:
  LineCostTest() {
    std::string workloads = "workload_id,x\n", targets = "workload_id,cost:ms:lower\n";
    for (int i = 0; i < 40; ++i) {
      workloads += std::to_string(i) + "," + std::to_string(i) + ".5\n";
      targets += std::to_string(i) + "," + std::to_string(3 * i + (i % 2 ? 1 : -1)) + ".25\n";
    }
    data_.put("workloads", test::csv_table(workloads));
    data_.put("targets", test::csv_table(targets));
  }

  const test::PluginClient plugin_{CONSUME_LIBRARY};
  const test::ReadyRun run_;
  omen::MemoryDataset data_;
};

TEST_F(LineCostTest, FollowsTheLine) {
  test::PredictorClient predictor(plugin_.component("consume.line"));
  predictor.fit(data_, run_);
  const omen::Table answers = predictor.predict(data_, run_);
  const std::vector<double> found = answers.numbers("cost"), low = answers.numbers("cost.lo");
  const std::vector<double> x = data_.find("workloads")->numbers("x");
  EXPECT_GT(omen::learn::spearman(x, found), 0.999);
  EXPECT_NEAR(found[20], 60, 2);
  EXPECT_LT(low[20], found[20]);
}

TEST_F(LineCostTest, SurvivesItsFile) {
  test::PredictorClient trained(plugin_.component("consume.line"), {{"alpha", "0.5"}});
  test::PredictorClient loaded(plugin_.component("consume.line"));
  EXPECT_THAT(test::error_of([&] { loaded.predict(data_, run_); }),
              test::IsError(OMEN_INVALID_STATE, testing::_));
  trained.fit(data_, run_);
  test::MemoryArtifact file = trained.save();
  loaded.load(file);
  EXPECT_EQ(loaded.predict(data_, run_).numbers("cost"),
            trained.predict(data_, run_).numbers("cost"));
}

}  // namespace
