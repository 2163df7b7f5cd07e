// SPDX-License-Identifier: Apache-2.0
// Published perf tables: reading, mending, scaling and writing.
#include "sweep/perf_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "omen/testing/errors.hpp"

namespace omen::driple {
namespace {

using test::error_of;
using test::IsError;
using ::testing::HasSubstr;

const std::string kSingle =
    "GPU,Model,BatchSize,Optimizer,Epoch,Dataset,Resource,avg Idle time,avg Active time,"
    "avg Peak consumption,Execution Time\n";

// Three rows with the burst under idle, one with its clusters the other way round.
const std::string kRows = kSingle +
                          "A,net,8,sgd,10,c,GPU Util%,0.98,0.02,0.97,100\n"
                          "A,net,8,sgd,10,c,GPU Memory,0.99,0.01,0.99,100\n"
                          "A,net,8,sgd,10,c,CPU Util%,0.6,0.4,0,100\n"
                          "A,net,16,sgd,10,c,GPU Util%,0.003,0.997,0.997,60\n"
                          "A,net,16,sgd,10,c,GPU Mem Util%,0.7,0.3,0,60\n";

TEST(PerfTableTest, RecognisesSwappedHeadersAndFlippedClusters) {
  const PerfTable table = parse_perf_csv(kRows, "t");
  EXPECT_TRUE(table.headers_swapped);
  EXPECT_DOUBLE_EQ(table.rows[0].burst, 0.98);
  EXPECT_EQ(table.rows[0].evidence, Evidence::proven);
  EXPECT_TRUE(table.rows[0].mended);
  EXPECT_DOUBLE_EQ(table.rows[3].burst, 0.997);
  EXPECT_DOUBLE_EQ(table.rows[3].idle, 0.003);
  EXPECT_EQ(table.rows[2].evidence, Evidence::unknown);
}

TEST(PerfTableTest, WhatItWritesHasRightHeadersAndIsReadUnchanged) {
  const PerfTable table = parse_perf_csv(kRows, "t");
  const PerfTable again = parse_perf_csv(perf_csv(table), "t");
  EXPECT_FALSE(again.headers_swapped);
  ASSERT_EQ(again.rows.size(), table.rows.size());
  EXPECT_DOUBLE_EQ(again.rows[0].burst, 0.98);
  EXPECT_DOUBLE_EQ(again.rows[3].burst, 0.997);
  EXPECT_EQ(perf_csv(again), perf_csv(table));
}

TEST(PerfTableTest, TimesAreScaledOverAllRows) {
  const PerfTable table = parse_perf_csv(kRows, "t");
  EXPECT_DOUBLE_EQ(table.least_seconds, 60);
  EXPECT_DOUBLE_EQ(table.most_seconds, 100);
  EXPECT_DOUBLE_EQ(table.rows[0].scaled_seconds, 1);
  EXPECT_DOUBLE_EQ(table.rows[4].scaled_seconds, 0);
}

TEST(PerfTableTest, ReadsTheDistributedSchemaAsItStands) {
  const PerfTable table = parse_perf_csv(
      "GPU,Model,Data Set,Sync/Async,Hyper-Parameter,Job Name,Resource,avg Idle time,"
      "avg Active time,avg Peak consumption\n"
      "V100,vgg11,imagenet,sync,b32,worker,Network_rx,1.5,0.25,40\n"
      "V100,vgg11,imagenet,sync,b32,worker,GPU MEM util,1.5,0.25,40\n",
      "t");
  EXPECT_EQ(table.job_columns, job_columns_of(PerfSchema::distributed));
  EXPECT_EQ(table.rows[0].resource, Resource::net_rx);
  EXPECT_EQ(table.rows[1].resource, Resource::gpu_mem_util);
  EXPECT_DOUBLE_EQ(table.rows[0].idle, 1.5);
  EXPECT_FALSE(table.rows[0].mended);
}

TEST(PerfTableTest, NamesTheLineThatIsWrong) {
  EXPECT_THAT(error_of([] { parse_perf_csv("GPU,Model\n", "p.csv"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("Resource"), ::testing::_));
  EXPECT_THAT(error_of([] { parse_perf_csv(kSingle + "A,n,8,sgd,1,c,Fan,0,1,0,9\n", "p.csv"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("line 2: its resource"), ::testing::_));
  EXPECT_THAT(
      error_of([] { parse_perf_csv(kSingle + "A,n,8,sgd,1,c,GPU Util%,x,1,0,9\n", "p.csv"); }),
      IsError(OMEN_INVALID_DATA, HasSubstr("a number is missing"), ::testing::_));
}

TEST(PerfTableTest, ImpossibleTimesAreSuspect) {
  const PerfTable table = parse_perf_csv(kSingle +
                                             "A,n,8,sgd,10,c,GPU Util%,0.9,0.1,0.9,800\n"
                                             "A,n,16,sgd,10,c,GPU Util%,0.9,0.1,0.9,700\n"
                                             "A,n,32,sgd,10,c,GPU Util%,0.9,0.1,0.9,20\n",
                                         "t");
  EXPECT_EQ(table.rows[1].outcome, "");
  EXPECT_EQ(table.rows[2].outcome, "suspect");
}

TEST(PublishedPerfTest, IsMendedAndItsCrashedRunsAreFound) {
  const char* data = std::getenv("OMEN_DATA");
  if (!data) GTEST_SKIP() << "OMEN_DATA does not name the public data";
  std::ifstream file(std::string(data) + "/driple/training_perf_file.csv");
  if (!file) GTEST_SKIP() << "the public data has no training_perf_file.csv";
  const PerfTable table =
      parse_perf_csv(std::string(std::istreambuf_iterator<char>(file), {}), "published");
  ASSERT_EQ(table.rows.size(), 4608U);
  EXPECT_TRUE(table.headers_swapped);
  std::set<std::vector<std::string>> suspects;
  int flipped = 0;
  for (const PerfRow& row : table.rows) {
    if (row.outcome == "suspect")
      suspects.insert(row.job);
    else
      flipped += row.evidence == Evidence::proven && !row.mended ? 1 : 0;
    if (row.evidence == Evidence::proven) {
      EXPECT_LE(row.peak, row.burst + 0.01);
    }
    EXPECT_NEAR(row.idle + row.burst, 1, 1e-9);
  }
  EXPECT_EQ(suspects.size(), 48U);
  EXPECT_GE(flipped, 17);
}

}  // namespace
}  // namespace omen::driple
