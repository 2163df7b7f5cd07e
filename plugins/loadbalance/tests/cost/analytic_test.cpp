// SPDX-License-Identifier: Apache-2.0
// Times between devices, and what a split costs.
#include "cost/analytic.hpp"

#include <gmock/gmock.h>

namespace omen::loadbalance::cost {
namespace {

DeviceFigures device(double launch_ms, double link, double peak, double bandwidth) {
  DeviceFigures figures;
  figures.fp32 = figures.fp64 = peak;
  figures.bandwidth = bandwidth;
  figures.launch_ms = launch_ms;
  figures.link = link;
  return figures;
}

TEST(Analytic, DevicesComeFromTheRegistry) {
  const auto gpu = find_gpu("GTX 970");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->name, "NVIDIA GeForce GTX 970");
  EXPECT_LT(gpu->fp64, gpu->fp32);
  EXPECT_GT(gpu->link, 0);
  EXPECT_EQ(find_gpu("")->name, gpu->name);
  EXPECT_TRUE(find_cpu("i7-3820"));
  EXPECT_EQ(find_cpu("")->link, 0) << "a processor works in host memory";
  EXPECT_FALSE(find_gpu("i7-3820")) << "a processor is no GPU";
  EXPECT_FALSE(find_gpu("no such thing 12"));
}

TEST(Analytic, ATimeStaysOnItsDevice) {
  const DeviceFigures gpu = device(0.1, 1e9, 1e12, 1e11);
  EXPECT_NEAR(move_time(5, 1e6, 0, 1, gpu, gpu), 5, 1e-9);
}

TEST(Analytic, LaunchCopiesAndWorkMoveApart) {
  const DeviceFigures slow = device(0.1, 1e9, 1e12, 1e11);
  EXPECT_NEAR(move_time(5, 0, 0, 0.01, slow, device(0.6, 1e9, 1e12, 1e11)), 5.5, 1e-9)
      << "only the launch differs";
  EXPECT_NEAR(move_time(5, 1e6, 0, 0.01, slow, device(0.1, 2e9, 1e12, 1e11)), 4.5, 1e-9)
      << "a copy of 1 ms takes half as long";
  EXPECT_NEAR(move_time(5, 1e9, 0, 0.01, slow, device(0.1, 2e9, 1e12, 1e11)), 5, 1e-9)
      << "a time that cannot hold the copy does not";
  EXPECT_NEAR(move_time(5.1, 0, 0, 0.01, slow, device(0.1, 1e9, 1e12, 2e11)), 2.6, 1e-9)
      << "bound by memory";
  EXPECT_NEAR(move_time(5.1, 0, 0, 1000, slow, device(0.1, 1e9, 2e12, 1e11)), 2.6, 1e-9)
      << "bound by arithmetic";
}

TEST(Analytic, TheBestSplitEndsBothDevicesTogether) {
  const SplitCost even = best_split(10, 10, 0);
  EXPECT_NEAR(even.share, 50, 1e-9);
  EXPECT_NEAR(even.gain, 2, 1e-9);
  EXPECT_NEAR(best_split(1, 3, 0).share, 75, 1e-9);
  const SplitCost launch = best_split(1, 2, 2);
  EXPECT_EQ(launch.share, 100) << "a launch that takes longer than the CPU is not worth it";
  EXPECT_NEAR(launch.gain, 1, 1e-9);
  const auto curve = split_curve(10, 10, 0);
  ASSERT_EQ(curve.size(), 21u);
  EXPECT_NEAR(curve[0].time_ms, 10, 1e-9);
  EXPECT_NEAR(curve[10].time_ms, 5, 1e-9);
  EXPECT_NEAR(curve[20].time_ms, 10, 1e-9);
}

}  // namespace
}  // namespace omen::loadbalance::cost
