// SPDX-License-Identifier: Apache-2.0
// Jobs alone: curves of their own, counters of others, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"
#include "solo/solo_predictor.hpp"

namespace omen::interference {
namespace {

using test::csv_table;
using test::error_of;
using test::IsError;
using ::testing::_;
using ::testing::HasSubstr;

double true_rate(bool heavy, double batch) {
  return 1 / (0.01 + (heavy ? 0.002 : 0.0005) * batch);
}

// Two jobs whose steps have a fixed part and one that grows with the batch.
void put_two_jobs(MemoryDataset& data) {
  std::string workloads = "workload_id,network,batch\n", targets = "workload_id,rate_per_s\n";
  int id = 0;
  for (const bool heavy : {true, false})
    for (const int batch : {1, 4, 16, 64, 256}) {
      workloads += std::to_string(id) + (heavy ? ",heavy," : ",light,") + std::to_string(batch);
      workloads += "\n";
      targets += std::to_string(id++) + "," + std::to_string(true_rate(heavy, batch)) + "\n";
    }
  data.put("workloads", csv_table(workloads));
  data.put("targets", csv_table(targets));
}

Table answers(SoloPredictor& solo, const std::string& rows) {
  MemoryDataset data;
  data.put("workloads", csv_table(rows));
  return solo.predict(data.view(), test::ReadyRun()).read_all();
}

TEST(SoloPredictor, FollowsTheCurveOfAJobAndSurvivesItsFile) {
  SoloPredictor solo, kept;
  MemoryDataset data;
  put_two_jobs(data);
  solo.fit(data.view(), Dataset(nullptr), test::ReadyRun());
  const std::string rows =
      "workload_id,network,batch\n0,heavy,8\n1,light,100\n2,other,8\n3,light,100000\n";
  const Table said = answers(solo, rows);
  EXPECT_NEAR(said.numbers("rate_per_s")[0] / true_rate(true, 8), 1, 0.01);
  EXPECT_NEAR(said.numbers("rate_per_s")[1] / true_rate(false, 100), 1, 0.01);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_LE(said.numbers("rate_per_s.lo")[row], said.numbers("rate_per_s")[row]);
    EXPECT_GE(said.numbers("rate_per_s.hi")[row], said.numbers("rate_per_s")[row]);
  }
  const std::vector<std::string> status = {"ok", "ok", "extrapolating", "extrapolating"};
  for (std::int64_t row = 0; row < 4; ++row)
    EXPECT_EQ(said.strings(said.index("status"))[row], status[static_cast<std::size_t>(row)]);
  test::round_trip(solo, kept);
  for (std::size_t row = 0; row < 4; ++row)
    EXPECT_NEAR(answers(kept, rows).numbers("rate_per_s")[row] / said.numbers("rate_per_s")[row], 1,
                1e-6);
}

TEST(SoloPredictor, CountersSpeakForJobsNeverSeen) {
  std::string workloads = "workload_id,network,batch,busy\n", targets = "workload_id,util_pct:%\n";
  for (int id = 0; id < 24; ++id) {
    const int busy = id * 4;
    workloads += std::to_string(id) + ",n" + std::to_string(id / 4) + ",8," + std::to_string(busy);
    workloads += "\n";
    targets += std::to_string(id) + "," + std::to_string(5 + 0.9 * busy) + "\n";
  }
  MemoryDataset data;
  data.put("workloads", csv_table(workloads));
  data.put("targets", csv_table(targets));
  SoloPredictor solo;
  solo.fit(data.view(), Dataset(nullptr), test::ReadyRun());
  const Table said =
      answers(solo, "workload_id,network,batch,busy\n0,new,8,50\n1,n1,8,30\n2,n1,8,\n");
  EXPECT_NEAR(said.numbers("util_pct")[0], 50, 5);
  EXPECT_NEAR(said.numbers("util_pct")[1], 32, 5);
  EXPECT_TRUE(std::isfinite(said.numbers("util_pct")[2]));
}

TEST(SoloPredictor, ObservationsTeachANewJob) {
  SoloPredictor solo;
  MemoryDataset data;
  put_two_jobs(data);
  solo.fit(data.view(), Dataset(nullptr), test::ReadyRun());
  MemoryDataset measured;
  measured.put("workloads", csv_table("workload_id,network,batch\n0,heavy,8\n1,heavy,8\n"));
  measured.put("targets", csv_table("workload_id,rate_per_s\n0,20\n1,22\n"));
  solo.observe(measured.view(), test::ReadyRun());
  // Two values at one size count by their mean.
  const std::string rows = "workload_id,network,batch\n0,heavy,8\n";
  EXPECT_NEAR(answers(solo, rows).numbers("rate_per_s")[0], 21, 0.5);
  measured.put("targets", csv_table("workload_id,rate_per_s\n0,-1\n1,22\n"));
  EXPECT_THAT(error_of([&] { solo.observe(measured.view(), test::ReadyRun()); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("rate_per_s is -1"), _));
  EXPECT_NEAR(answers(solo, rows).numbers("rate_per_s")[0], 21, 0.5);
}

TEST(SoloPredictor, OneBatchSizeAndConstantsHaveADefinedAnswer) {
  MemoryDataset data;
  data.put("workloads", csv_table("workload_id,network,batch,same\n0,a,8,1\n1,b,8,1\n2,c,8,1\n"));
  data.put("targets", csv_table("workload_id,rate_per_s\n0,5\n1,5\n2,5\n"));
  SoloPredictor solo;
  solo.fit(data.view(), Dataset(nullptr), test::ReadyRun());
  const Table said = answers(solo, "workload_id,network,batch,same\n0,a,8,1\n1,a,16,1\n2,a,,\n");
  for (const double rate : said.numbers("rate_per_s")) EXPECT_NEAR(rate, 5, 0.1);
}

// Filled rows train, but an interval tells what measured ones are missed by.
TEST(SoloPredictor, FilledRowsDoNotChangeIntervals) {
  const auto width = [](const char* mark) {
    std::string workloads = "workload_id,network,batch,synthetic\n",
                targets = "workload_id,rate_per_s\n";
    int id = 0;
    for (const int batch : {1, 2, 4, 8, 16, 32, 64}) {
      const bool measured = batch == 1 || batch == 4 || batch == 16 || batch == 64;
      if (!measured && !mark) continue;
      workloads += std::to_string(id) + ",a," + std::to_string(batch) + ",";
      workloads += measured ? "false" : mark;
      workloads += "\n";
      targets += std::to_string(id++) + "," + std::to_string(100 - 20 * (batch % 3)) + "\n";
    }
    MemoryDataset data;
    data.put("workloads", csv_table(workloads));
    data.put("targets", csv_table(targets));
    SoloPredictor solo, kept;
    solo.fit(data.view(), Dataset(nullptr), test::ReadyRun());
    test::round_trip(solo, kept);
    const Table said = answers(kept, "workload_id,network,batch\n0,a,11\n");
    return said.numbers("rate_per_s.hi")[0] / said.numbers("rate_per_s.lo")[0];
  };
  EXPECT_NEAR(width("true"), width(nullptr), 1e-6);
  EXPECT_GT(std::abs(width("false") - width(nullptr)), 0.01);
}

TEST(SoloPredictor, RefusesWhatCannotBe) {
  SoloPredictor solo;
  MemoryDataset data;
  data.put("workloads", csv_table("workload_id,network,batch\n0,a,0\n1,a,8\n"));
  data.put("targets", csv_table("workload_id,rate_per_s\n0,5\n1,6\n"));
  const auto fit = [&] {
    return error_of([&] { solo.fit(data.view(), Dataset(nullptr), test::ReadyRun()); });
  };
  EXPECT_THAT(fit(), IsError(OMEN_INVALID_DATA, HasSubstr("a batch size is 0"), _));
  data.put("workloads", csv_table("workload_id,network,batch\n0,a,4\n1,a,8\n"));
  data.put("targets", csv_table("workload_id,rate_per_s\n0,\n1,6\n"));
  EXPECT_THAT(fit(), IsError(OMEN_INVALID_DATA, HasSubstr("fewer than two measured rows"), _));
  EXPECT_THAT(error_of([&] { answers(solo, "workload_id,batch\n0,8\n"); }),
              IsError(OMEN_INVALID_STATE, HasSubstr("no model"), _));
}

}  // namespace
}  // namespace omen::interference
