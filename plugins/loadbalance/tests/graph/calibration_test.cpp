// SPDX-License-Identifier: Apache-2.0
// Factors from measurements, and the file that keeps them.
#include "graph/calibration.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;

TEST(Calibration, TakesTheMedianAndTrustsFewPointsLess) {
  const std::vector<CalibrationPoint> points = {
      {1, 1, 2, 0.5}, {1, 1, 2, 0.5}, {10, 10, 20, 5000}, {1, 1, 0, 1}};
  const Calibration calibration = fit_calibration(points);
  EXPECT_EQ(calibration.kernels, 3) << "a time of 0 was not measured";
  EXPECT_NEAR(calibration.log_cpu, 0.75 * std::log(2), 1e-12);
  EXPECT_NEAR(calibration.log_gpu, 0.75 * std::log(0.5), 1e-12) << "one wild point is ignored";
  EXPECT_THROW(fit_calibration({{1, 1, 0, 1}}), Error);
}

TEST(Calibration, GoesThroughAFile) {
  const fs::path file = fs::path(testing::TempDir()) / "calibration" / "here.txt";
  fs::remove_all(file.parent_path());
  EXPECT_FALSE(read_calibration(file));
  write_calibration({"some CPU @ 2 GHz", "some GPU", 0.1, -0.25, 0.015, 7}, file);
  const auto back = read_calibration(file);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->cpu, "some CPU @ 2 GHz");
  EXPECT_EQ(back->gpu, "some GPU");
  EXPECT_EQ(back->log_cpu, 0.1);
  EXPECT_EQ(back->log_gpu, -0.25);
  EXPECT_EQ(back->launch_ms, 0.015);
  EXPECT_EQ(back->kernels, 7);
  std::ofstream(file) << "omen-loadbalance-calibration 1\nlog_cpu much\n";
  EXPECT_THROW(read_calibration(file), Error);
  std::ofstream(file) << "something else\n";
  EXPECT_THROW(read_calibration(file), Error);
  fs::remove_all(file.parent_path());
}

}  // namespace
}  // namespace omen::loadbalance
