// SPDX-License-Identifier: Apache-2.0
// The closed form, its calibration, and the predictor around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/learn/random.hpp>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"
#include "rate/rate_predictor.hpp"
#include "rate/setting_rows.hpp"
#include "rate/sharing_advice.hpp"

namespace omen::ensemble {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RateConstants kMachine = {20, 0.05, 400e6, 1.6e9, 2.4e9, 3};

Setting shared(Design design, double ranks, double preprocessors, double cores) {
  Setting setting;
  setting.design = design;
  setting.ranks = ranks;
  setting.preprocessors = preprocessors;
  setting.cores = cores;
  setting.coupled = is_coupled(design);
  setting.sample_bytes = 600000;
  return setting;
}

double peak(Design design, double ranks, double preprocessors, double cores) {
  return peak_rate(shared(design, ranks, preprocessors, cores), kMachine, 0);
}

TEST(ClosedForm, StagesAddUp) {
  const double node = 20 * 16 / 1.75;
  EXPECT_DOUBLE_EQ(peak(Design::kNone, 50, 1, 16), node);
  EXPECT_NEAR(1 / peak(Design::kAllShared, 4, 4, 16), 1 / (4 * node) + 0.75 * 0.0015, 1e-12);
  EXPECT_NEAR(1 / peak(Design::kSingleBroadcast, 9, 2, 16),
              1 / (2 * node) + 0.5 * 0.0015 + 3 * 0.000375, 1e-12);
  EXPECT_NEAR(1 / peak(Design::kMultiBroadcast, 9, 2, 16), 1 / (2 * node) + 4 * 0.000375, 1e-12);
  EXPECT_NEAR(1 / peak(Design::kWastefulBroadcast, 8, 4, 16), 1 / node + 3 * 0.00025, 1e-12);
  EXPECT_DOUBLE_EQ(peak(Design::kSharedMemory, 8, 1, 16), 20);
}

TEST(ClosedForm, BroadcastsThatWasteNothingGrowWithPreprocessors) {
  EXPECT_GT(peak(Design::kMultiBroadcast, 20, 8, 4), 2 * peak(Design::kMultiBroadcast, 20, 2, 4));
  EXPECT_EQ(peak(Design::kWastefulBroadcast, 20, 8, 4), peak(Design::kWastefulBroadcast, 20, 2, 4));
}

TEST(ClosedForm, OverlapHidesTheShorterStage) {
  const Setting setting = shared(Design::kAllShared, 4, 4, 16);
  const double prepare = 1.75 / (20 * 16 * 4), exchange = 0.75 * 0.0015;
  EXPECT_NEAR(1 / peak_rate(setting, kMachine, 1), std::max(prepare, exchange), 1e-12);
}

TEST(ClosedForm, CoupledModelsKeepTheSlowestPace) {
  Setting setting = shared(Design::kAllShared, 4, 4, 16);
  setting.train_rates = {200, 20, 100, 20};
  RateConstants sharp = kMachine;
  sharp.sharpness = 60;
  const Forecast coupled = forecast(setting, sharp, {}, 0);
  EXPECT_NEAR(coupled.rate, 20, 0.1);
  EXPECT_NEAR(coupled.idle_share, 1 - (2 + 0.1 + 0.2) / 4, 0.01);
  setting.groups = 2;  // the slow ones apart
  EXPECT_NEAR(forecast(setting, sharp, {}, 0).rate, (20 + 20 + 100 + 100) / 4.0, 1);
  setting.groups = 1;
  setting.coupled = false;
  EXPECT_NEAR(forecast(setting, sharp, {}, 0).rate, 85, 0.5);
}

TEST(ClosedForm, AHostBelowItsNeedsSlowsTheTraining) {
  Setting setting = shared(Design::kAllShared, 50, 50, 1);
  setting.train_rates = {30};
  EXPECT_NEAR(
      forecast(setting, kMachine, {0, 2}, 0).rate / forecast(setting, kMachine, {0, 1}, 0).rate,
      0.5, 0.01);
}

TEST(ClosedForm, SharingDividesTheCpuOfPreprocessing) {
  const CpuConstants constants = {0.08, 0, 0.001};
  const auto cost = [&](Design design) {
    const Setting setting = shared(design, 8, 2, 16);
    return cpu_per_image(cpu_terms(setting, forecast(setting, kMachine, {}, 0)), constants);
  };
  EXPECT_DOUBLE_EQ(cost(Design::kNone), 0.08);
  EXPECT_DOUBLE_EQ(cost(Design::kAllShared), 0.01 + 0.000875);
  EXPECT_DOUBLE_EQ(cost(Design::kWastefulBroadcast), 0.02 + 0.001);
  EXPECT_DOUBLE_EQ(cost(Design::kSharedMemory), 0.01);
}

TEST(Designs, NamesReadBack) {
  for (const std::string& name : design_names()) {
    ASSERT_TRUE(parse_design(name)) << name;
    EXPECT_EQ(design_name(parse_design(name)->design), name);
  }
  EXPECT_EQ(parse_design("SB_p5")->preprocessors, 5);
  EXPECT_EQ(parse_design("MB")->design, Design::kWastefulBroadcast);
  for (const char* wrong : {"", "XX", "SB_p", "SB_p0", "SB_p-1", "SB_px", "AS_p99999999999"})
    EXPECT_FALSE(parse_design(wrong)) << wrong;
}

// Rows of a machine that is exactly as the closed form says, but for some noise.
std::vector<Measured> rows_of(const RateConstants& machine, double noise) {
  learn::Random random(7);
  std::vector<Measured> rows;
  for (const Design design : {Design::kNone, Design::kAllShared, Design::kSingleBroadcast})
    for (const double cores : {1.0, 4.0, 16.0})
      for (const double ranks : {8.0, 16.0, 64.0}) {
        Measured row;
        row.setting = shared(design, ranks, 4, cores);
        row.group = static_cast<std::int32_t>(cores);
        if (design == Design::kNone) row.setting.train_rates = {150};
        const Forecast truth = forecast(row.setting, machine, {}, 0);
        row.rate = truth.rate * std::exp(noise * random.normal());
        row.cpu = cpu_per_image(cpu_terms(row.setting, truth), {0.06, 0, 0.002});
        row.power = std::numeric_limits<double>::quiet_NaN();
        rows.push_back(row);
      }
  return rows;
}

TEST(Calibration, FindsTheConstantsOfAMachine) {
  const Calibrated found = calibrate(rows_of(kMachine, 0), {});
  EXPECT_NEAR(found.rate.core_rate / kMachine.core_rate, 1, 0.01);
  EXPECT_NEAR(found.rate.sigma, kMachine.sigma, 0.003);
  EXPECT_NEAR(found.rate.gather_bw / kMachine.gather_bw, 1, 0.02);
  EXPECT_NEAR(found.rate.broadcast_bw / kMachine.broadcast_bw, 1, 0.02);
  ASSERT_TRUE(found.cpu);
  EXPECT_NEAR(found.cpu->prepare, 0.06, 1e-4);
  EXPECT_NEAR(found.cpu->exchange, 0.002, 1e-4);
  EXPECT_FALSE(found.power);
}

// Two models on two cores: totals of both arms are off by a few per cent in opposite directions, as
// on a busy machine; the clocks of the stages are not.
TEST(Calibration, ClocksOfStagesTellPartsThatTotalsDoNot) {
  const CpuConstants truth{0.5e-3, 0, 0, 0.1e-3};
  const auto asked = [&](Design design, double ranks) {
    Setting setting = shared(design, ranks, 1, 2);
    setting.ranks_per_node = ranks;
    setting.train_rates = {1 / truth.train};
    return setting;
  };
  const auto cost = [](const Calibrated& model, const Setting& setting) {
    return cpu_per_image(cpu_terms(setting, model.ask(setting)), *model.cpu);
  };
  std::vector<Measured> rows;
  for (const auto& [design, error] :
       {std::pair(Design::kNone, 1.03), std::pair(Design::kSharedMemory, 0.97)}) {
    Measured row{asked(design, 2), 0, 2000, 0, 0};
    row.prepare_cpu = truth.prepare * (design == Design::kNone ? 1 : 0.5) * error;
    row.train_cpu = truth.train * error;
    row.cpu = row.prepare_cpu + row.train_cpu;
    row.rate = 2 / row.cpu / 2;
    rows.push_back(row);
  }
  const Calibrated told = calibrate(rows, {});
  EXPECT_NEAR(told.cpu->train / truth.train, 1, 0.05);
  const double expected = (0.5 + 0.1) / (0.5 / 8 + 0.1);
  EXPECT_NEAR(cost(told, asked(Design::kNone, 8)) / cost(told, asked(Design::kSharedMemory, 8)),
              expected, 0.02 * expected);
  // Cores that train and preprocess do both for all eight.
  EXPECT_LT(told.ask(asked(Design::kNone, 8)).rate, 2 / 0.55e-3 / 8);
  for (Measured& row : rows) row.prepare_cpu = row.train_cpu = std::nan("");
  const Calibrated guessed = calibrate(rows, {});
  EXPECT_GT(std::abs(cost(guessed, asked(Design::kNone, 8)) /
                         cost(guessed, asked(Design::kSharedMemory, 8)) / expected -
                     1),
            0.15);
}

TEST(Calibration, AnyUnitOfWork) {
  RateConstants slow = kMachine;
  slow.core_rate = 1e-3;
  slow.gather_bw = 2e4;
  slow.broadcast_bw = 8e4;
  std::vector<Measured> rows = rows_of(slow, 0);
  for (Measured& row : rows) row.setting.train_rates.clear();
  for (Measured& row : rows) row.rate = forecast(row.setting, slow, {}, 0).rate;
  EXPECT_LT(mean_rate_error(calibrate(rows, {}), rows), 0.01);
}

TEST(Calibration, AGivenSigmaStays) {
  CalibrationOptions options;
  options.sigma = 0.2;
  EXPECT_EQ(calibrate(rows_of(kMachine, 0), options).rate.sigma, 0.2);
}

TEST(Calibration, KnowsWhatItSaw) {
  const Calibrated found = calibrate(rows_of(kMachine, 0.02), {});
  EXPECT_FALSE(found.extrapolates(shared(Design::kAllShared, 32, 4, 8)));
  EXPECT_TRUE(found.extrapolates(shared(Design::kAllShared, 65, 4, 8)));
  EXPECT_TRUE(found.extrapolates(shared(Design::kAllShared, 32, 4, 17)));
  EXPECT_TRUE(found.extrapolates(shared(Design::kSingleBroadcast, 32, 5, 8)));
  EXPECT_TRUE(found.extrapolates(shared(Design::kSharedMemory, 32, 4, 8)));
  EXPECT_FALSE(found.extrapolates(shared(Design::kNone, 1000, 4, 8)));
}

TEST(Calibration, NothingMeasuredIsRefused) {
  EXPECT_THAT(test::error_of([] { calibrate({}, {}); }),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("no row has a measured rate"),
                            HasSubstr("images_per_s")));
}

Table workloads() {
  return test::csv_table(
      "workload_id,group,pipeline,n_nodes,cores_per_node,train_rate\n"
      "0,a,AS,4,16,\n1,a,AS,8,16,\n2,b,AS,16,4,\n3,b,SB_p2,8,4,\n4,b,none,1,4,100\n"
      "5,c,bogus,1,4,100\n6,c,AS,,4,\n");
}

void train(RatePredictor& predictor, const Run& run) {
  MemoryDataset data;
  data.put("workloads", workloads());
  data.put("targets", test::csv_table("workload_id,images_per_s\n0,400\n1,480\n2,450\n3,150\n"
                                      "4,60\n5,1\n6,1\n"));
  predictor.fit(data.view(), Dataset(nullptr), run);
}

TEST(RatePredictor, AnswersEveryRowOrSaysWhyNot) {
  RatePredictor predictor{RateOptions{}};
  const test::ReadyRun run;
  train(predictor, run);
  MemoryDataset asked;
  asked.put("workloads", workloads());
  const Table said = predictor.predict(asked.view(), run).read_all();
  ASSERT_EQ(said.rows(), 7);
  EXPECT_FALSE(said.has("cpu_s_per_image")) << "nothing about CPU was measured";
  const StringColumn status = said.strings("status");
  EXPECT_EQ(status[0], "ok");
  EXPECT_THAT(std::string(status[5]), HasSubstr("pipeline 'bogus' is none of none, all-shared"));
  EXPECT_EQ(status[6], "n_nodes is not at least 1");
  const auto low = said.numbers("images_per_s.lo"), rate = said.numbers("images_per_s"),
             high = said.numbers("images_per_s.hi");
  EXPECT_LT(low[0], rate[0]);
  EXPECT_LT(rate[0], high[0]);
  EXPECT_TRUE(std::isnan(rate[5]));
}

TEST(RatePredictor, TheModelIsItsConstants) {
  RatePredictor predictor{RateOptions{}}, other{RateOptions{}};
  const test::ReadyRun run;
  train(predictor, run);
  test::round_trip(predictor, other);
  MemoryDataset asked;
  asked.put("workloads", workloads());
  EXPECT_EQ(predictor.predict(asked.view(), run).read_all().numbers("images_per_s")[3],
            other.predict(asked.view(), run).read_all().numbers("images_per_s")[3]);
}

TEST(RatePredictor, TrainersOfAGraphAreItsRates) {
  MemoryDataset data;
  data.put("workloads", test::csv_table("workload_id,graph_id,pipeline,n_nodes,cores_per_node\n"
                                        "0,3,AS,2,16\n1,4,AS,2,16\n"));
  data.put("nodes", test::csv_table("graph_id,node_id,op,images_per_s\n3,0,train,50\n"
                                    "3,1,queue,7\n3,2,train,20\n"));
  const auto rows = read_settings(data.view(), test::ReadyRun());
  EXPECT_THAT(rows[0].setting.train_rates, ElementsAre(50, 20));
  EXPECT_TRUE(rows[1].setting.train_rates.empty());
}

TEST(SharingAdvice, CopiesDivideWhatIsServedAndKeepWhatTheyTrain) {
  CopyCosts costs;
  costs.own_prepare_cpu_s = 0.9e-3;
  costs.served_prepare_cpu_s = 0.5e-3;
  costs.train_cpu_s = costs.train_wall_s = 0.1e-3;
  costs.alone_wall_s = 1e-3;
  costs.sample_bytes = 12288;
  const CopyForecast four = forecast_copies(costs, 4, 2);
  EXPECT_NEAR(four.alone_cpu_s, 1e-3, 1e-9);
  EXPECT_NEAR(four.shared_cpu_s, 0.5e-3 / 4 + 0.1e-3, 1e-9);
  EXPECT_NEAR(four.saving(), 1 / 0.225, 1e-6);
  // Two cores do the work of four copies.
  EXPECT_NEAR(four.alone_per_s, 500, 5);
  EXPECT_LE(four.shared_per_s, 2 / (4 * 0.225e-3) + 1);
  EXPECT_GT(four.shared_per_s, 3 * four.alone_per_s);
  // One copy is not faster than it was, however many cores there are.
  EXPECT_NEAR(forecast_copies(costs, 1, 64).alone_per_s, 1000, 1e-6);
}

}  // namespace
}  // namespace omen::ensemble
