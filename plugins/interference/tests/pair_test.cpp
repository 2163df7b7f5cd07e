// SPDX-License-Identifier: Apache-2.0
// Speeds of pairs: every method learns, survives its file, and says when it does not know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/learn/random.hpp>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"
#include "pair/pair_predictor.hpp"

namespace omen::interference {
namespace {

using test::csv_table;
using test::error_of;
using test::IsError;
using ::testing::HasSubstr;

// Twelve jobs of three families whose speed follows from how busy both keep the GPU.
struct Toy {
  MemoryDataset data;
  std::string header =
      "workload_id,group,job,family,batch,util_pct,partner,partner_family,partner_batch,"
      "partner_util_pct,device,mode\n";
  std::string rows, targets = "workload_id,rho\n";

  static double share(int job) { return 0.2 + 0.07 * job; }
  std::string job(int j) const {
    return "j" + std::to_string(j) + ",f" + std::to_string(j % 3) + "," +
           std::to_string(8 << (j / 3)) + "," + std::to_string(100 * share(j));
  }
  Toy() {
    int id = 0;
    for (int v = 0; v < 12; ++v)
      for (int p = 0; p < 12; ++p) {
        if ((v * 7 + p * 5) % 3 == 0) continue;
        rows += std::to_string(id) + ",g" + std::to_string(std::min(v, p) * 12 + std::max(v, p)) +
                "," + job(v) + "," + job(p) + ",v100,mps\n";
        targets += std::to_string(id++) + "," + std::to_string(truth(v, p)) + "\n";
      }
    data.put("workloads", csv_table(header + rows));
    data.put("targets", csv_table(targets));
  }
  static double truth(int v, int p) { return 1 / (1 + 0.8 * share(v) * share(p) + 0.3 * share(p)); }
};

std::vector<double> ask(PairPredictor& predictor, const std::string& csv,
                        const char* column = "rho") {
  MemoryDataset data;
  data.put("workloads", csv_table(csv));
  return predictor.predict(data.view(), test::ReadyRun()).read_all().numbers(column);
}

TEST(PairPredictor, EveryMethodLearnsAndSurvivesItsFile) {
  const Toy toy;
  for (const Method method : all_methods()) {
    PairOptions options;
    options.method = method_name(method);
    PairPredictor predictor(options), again(options);
    const test::ReadyRun run;
    predictor.fit(toy.data.view(), Dataset(nullptr), run);
    const std::string asked = toy.header + "0,g0," + toy.job(3) + "," + toy.job(6) + ",v100,mps\n";
    const double said = ask(predictor, asked)[0];
    if (method == Method::kProcess) {
      EXPECT_NEAR(said, Toy::truth(3, 6), 0.02);
    }
    if (method != Method::kUtilsum) {
      EXPECT_NEAR(said, Toy::truth(3, 6), 0.2) << options.method;
    }
    test::round_trip(predictor, again);
    EXPECT_NEAR(ask(again, asked)[0], said, 1e-6) << options.method;
    EXPECT_LE(ask(again, asked, "rho.lo")[0], said);
    EXPECT_GE(ask(again, asked, "rho.hi")[0], said);
  }
}

TEST(PairPredictor, KnowsWhenItDoesNotKnow) {
  const Toy toy;
  PairPredictor predictor(PairOptions{});
  predictor.fit(toy.data.view(), Dataset(nullptr), test::ReadyRun());
  MemoryDataset data;
  data.put("workloads",
           csv_table(toy.header + "0,g0," + toy.job(3) + "," + toy.job(6) + ",v100,mps\n" +
                     "1,g1," + toy.job(3) + ",new,unseen,64,50,v100,mps\n" +    // another family
                     "2,g2," + toy.job(3) + "," + toy.job(6) + ",h100,mps\n" +  // another device
                     "3,g3," + toy.job(3) + ",bare,,,,v100,mps\n" +             // no profile
                     "4,g4," + toy.job(3) + ",,,,,v100,mps\n"));                // alone
  const Table said = predictor.predict(data.view(), test::ReadyRun()).read_all();
  const StringColumn status = said.strings("status");
  EXPECT_EQ(status[0], "ok");
  for (const std::int64_t row : {1, 2, 3}) EXPECT_EQ(status[row], "extrapolating") << row;
  EXPECT_EQ(status[4], "ok");
  EXPECT_EQ(said.numbers("rho")[4], 1);
  const std::vector<double> low = said.numbers("rho.lo"), high = said.numbers("rho.hi");
  EXPECT_GT(high[1] - low[1], high[0] - low[0]);
}

TEST(PairPredictor, MoreJobsNeverMakeOneFaster) {
  const Toy toy;
  PairPredictor predictor(PairOptions{});
  predictor.fit(toy.data.view(), Dataset(nullptr), test::ReadyRun());
  const std::string header =
      "workload_id,job,family,batch,util_pct,partner,partner_family,"
      "partner_batch,partner_util_pct,partner2,partner2_family,"
      "partner2_batch,partner2_util_pct,device,mode\n";
  const std::vector<double> rho =
      ask(predictor, header + "0," + toy.job(3) + "," + toy.job(6) + ",,,,,v100,mps\n" + "1," +
                         toy.job(3) + "," + toy.job(6) + "," + toy.job(8) + ",v100,mps\n" + "2," +
                         toy.job(3) + "," + toy.job(8) + "," + toy.job(6) + ",v100,mps\n");
  const std::vector<double> pair =
      ask(predictor, toy.header + "0,g0," + toy.job(3) + "," + toy.job(6) + ",v100,mps\n");
  EXPECT_NEAR(rho[0], pair[0], 1e-12);  // one partner is the pair itself
  EXPECT_LT(rho[1], rho[0]);
  EXPECT_NEAR(rho[1], rho[2], 1e-12);  // whatever the order
}

TEST(PairPredictor, ObservationsMoveTheirNeighbourhood) {
  const Toy toy;
  PairPredictor predictor(PairOptions{}), kept(PairOptions{});
  predictor.fit(toy.data.view(), Dataset(nullptr), test::ReadyRun());
  const std::string asked = toy.header + "0,g0," + toy.job(3) + "," + toy.job(6) + ",v100,mps\n";
  const double before = ask(predictor, asked)[0];
  MemoryDataset measured;
  measured.put("workloads", csv_table(asked));
  measured.put("targets", csv_table("workload_id,rho\n0,0.5\n"));
  predictor.observe(measured.view(), test::ReadyRun());
  const double after = ask(predictor, asked)[0];
  EXPECT_LT(std::abs(after - 0.5), 0.5 * std::abs(before - 0.5));
  test::round_trip(predictor, kept);
  EXPECT_NEAR(ask(kept, asked)[0], after, 1e-6);
}

TEST(PairPredictor, GivesRatesAndLatenciesThatAgree) {
  const Toy toy;
  PairPredictor predictor(PairOptions{});
  predictor.fit(toy.data.view(), Dataset(nullptr), test::ReadyRun());
  std::string header = toy.header;
  header.insert(header.size() - 1, ",rate_per_s,latency_p50_ms,latency_p99_ms");
  const std::string asked =
      header + "0,g0," + toy.job(3) + "," + toy.job(6) + ",v100,mps,50,20,45\n";
  const double rho = ask(predictor, asked)[0], low = ask(predictor, asked, "rho.lo")[0];
  EXPECT_NEAR(ask(predictor, asked, "corun_rate_per_s")[0], 50 * rho, 1e-9);
  EXPECT_NEAR(ask(predictor, asked, "corun_p50_ms")[0], 20 / rho, 1e-9);
  EXPECT_NEAR(ask(predictor, asked, "corun_p99_ms")[0], 45 / low, 1e-9);
}

TEST(PairPredictor, RefusesBadRows) {
  PairPredictor predictor(PairOptions{});
  MemoryDataset data;
  data.put("workloads", csv_table("workload_id,batch,partner_batch\n0,1,2\n1,2,1\n"));
  data.put("targets", csv_table("workload_id,rho\n0,-0.5\n1,0.5\n"));
  EXPECT_THAT(
      error_of([&] { predictor.fit(data.view(), Dataset(nullptr), test::ReadyRun()); }),
      IsError(OMEN_INVALID_DATA, HasSubstr("a relative speed is -0.5"), HasSubstr("above 0")));
  data.put("workloads", csv_table("workload_id,batch\n0,1\n1,2\n"));
  data.put("targets", csv_table("workload_id,rho\n0,0.5\n1,0.5\n"));
  EXPECT_THAT(error_of([&] { predictor.fit(data.view(), Dataset(nullptr), test::ReadyRun()); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("no column describes both jobs"),
                      HasSubstr("partner_X")));
}

TEST(CombinedSpeed, HasTheTwoJobLimit) {
  EXPECT_DOUBLE_EQ(combined_speed({0.7}), 0.7);
  EXPECT_DOUBLE_EQ(combined_speed({}), 1);
  EXPECT_LT(combined_speed({0.7, 0.99}), 0.7);
  EXPECT_DOUBLE_EQ(combined_speed({0.7, 1}), 0.7);
}

}  // namespace
}  // namespace omen::interference
