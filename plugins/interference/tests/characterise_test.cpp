// SPDX-License-Identifier: Apache-2.0
// Columns of measured jobs, from tables and from recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "characterise/feature_choice.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::interference {
namespace {

using test::error_of;
using test::IsError;
using ::testing::_;
using ::testing::HasSubstr;

// A run of two minutes that is busy for one of them and marks ten steps.
std::string recording(double busy) {
  std::string rows = "t,metric,value\n";
  for (int t = 0; t < 120; ++t) {
    rows += std::to_string(t) + ",cpu.busy_percent," + std::to_string(t < 60 ? busy : 1) + "\n";
    if (t >= 10 && t < 20) rows += std::to_string(t) + ",mark.step,1\n";
  }
  return rows;
}

TEST(JobTable, RecordingsAreRows) {
  const test::TempDir place;
  std::vector<std::string> paths;
  for (const int busy : {20, 40, 80}) {
    const std::string name = "run" + std::to_string(busy) + ".csv";
    place.write(name, recording(busy));
    paths.push_back((place / name).string());
  }
  place.write("odd.csv", "t,metric,value\n0,gpu.util_percent,5\n1,gpu.util_percent,5\n");
  paths.push_back((place / "odd.csv").string());
  const JobTable table = JobTable::of(paths);
  ASSERT_EQ(table.rows(), 4U);
  EXPECT_EQ(table.text("job", 1), "run40");
  EXPECT_NEAR(table.column("cpu.busy_percent_max")[1], 40, 1e-9);
  EXPECT_NEAR(table.column("cpu.busy_percent_min")[1], 1, 1e-9);
  EXPECT_NEAR(table.column("step_ms")[2], 1000, 1e-6);
  EXPECT_TRUE(std::isnan(table.column("cpu.busy_percent_max")[3]));  // was not recorded
  ChoiceRules rules;
  const std::vector<FeatureChoice> choices = choose_features(table, "cpu.busy_percent_max", rules);
  EXPECT_EQ(choices[0].feature, "cpu.busy_percent_mean");
  EXPECT_NEAR(choices[0].with_target.value, 1, 1e-9);
  EXPECT_EQ(choices[0].with_target.rows, 3U);
}

TEST(JobTable, OneTableIsReadAsATable) {
  const test::TempDir place;
  place.write("jobs.csv", "model,util_pct,synthetic\na,10,false\nb,nan,true\nc,,false\n");
  const JobTable table = JobTable::of({(place / "jobs.csv").string()});
  EXPECT_TRUE(std::isnan(table.column("util_pct")[1]));
  EXPECT_TRUE(std::isnan(table.column("util_pct")[2]));
  EXPECT_TRUE(table.is_set("synthetic", 1));
  EXPECT_FALSE(table.is_set("synthetic", 0));
  EXPECT_FALSE(table.is_set("absent", 0));
  EXPECT_THAT(error_of([] { JobTable::of({}); }), IsError(OMEN_INVALID_ARGUMENT, _, _));
  EXPECT_THAT(error_of([] { JobTable::of({"/nowhere/run.omt"}); }),
              IsError(OMEN_IO, HasSubstr("run.omt"), _));
}

}  // namespace
}  // namespace omen::interference
