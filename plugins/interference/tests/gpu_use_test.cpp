// SPDX-License-Identifier: Apache-2.0
// The GPU of a machine through a stand-in for the driver's library.
#include "measure/gpu_use.hpp"

#include <gtest/gtest.h>

namespace omen::interference {
namespace {

std::string library(const std::string& kind) {
  return std::string(OMEN_FAKE_NVML_DIR) + "/" + kind + "/libnvidia-ml.so.1";
}

TEST(GpuUse, NamesTheFirstGpuAndSaysHowBusyItIs) {
  const std::unique_ptr<GpuUse> gpu = GpuUse::open(library("current"));
  ASSERT_NE(gpu, nullptr);
  EXPECT_FALSE(gpu->name().empty());
  const double busy = gpu->util_percent();
  EXPECT_GE(busy, 0);
  EXPECT_LE(busy, 100);
}

TEST(GpuUse, IsNothingWithoutADriver) {
  EXPECT_EQ(GpuUse::open("/nowhere/libnvidia-ml.so.1"), nullptr);
  EXPECT_EQ(GpuUse::open(library("empty")), nullptr);
}

}  // namespace
}  // namespace omen::interference
