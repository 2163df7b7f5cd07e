// SPDX-License-Identifier: Apache-2.0
// Kernels on the devices of this machine, without Clang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "omen/error.hpp"
#include "opencl/runtime.hpp"

namespace omen::loadbalance {
namespace {

Parameter floats(const char* name, bool constant = false) {
  return {name, "float*", ParameterKind::kBuffer, ScalarKind::kFloat, 4, 4, constant};
}

// `y[i] += x[i]` or another body over two buffers.
KernelSetup setup(const std::string& body, std::size_t items = 1024) {
  KernelSetup made;
  made.source = made.split_source =
      "__kernel void k(__global const float* x, __global float* y) { size_t i = "
      "get_global_id(0); " +
      body + " }";
  made.kernel = "k";
  made.range.global = {items, 1, 1};
  made.range.local = {64, 1, 1};
  made.parameters = {floats("x", true), floats("y")};
  made.written = {false, true};
  made.exclusive = {false, false};
  made.arguments = make_arguments({"k", made.parameters, {}}, {made.range, {}, 0, 1});
  made.timeout_s = 20;
  return made;
}

class KernelRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      devices_ = choose_devices("", list_opencl_devices());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::array<OpenClDevice, 2> devices_;
};

TEST_F(KernelRunnerTest, DevicesAreChosenByText) {
  const auto all = list_opencl_devices();
  const std::string last = all.back().id();
  EXPECT_EQ(choose_devices("0:0," + last, all)[1].id(), last);
  for (const char* wrong : {"0:0", "0:99,0:0", "x,y", "0:0,0:0,0:0", "0:0/0,0:0", "0:0/9999,0:0"})
    EXPECT_THROW(choose_devices(wrong, all), Error) << wrong;
}

TEST_F(KernelRunnerTest, SplitRunsGiveWhatOneDeviceGives) {
  KernelRunner runner(devices_, setup("y[i] += 2 * x[i];"));
  runner.run_whole(0);
  const std::vector<Bytes> expected = runner.results();
  runner.run_whole(1);
  EXPECT_EQ(runner.results(), expected);
  LaunchRange range;
  range.global = {1024, 1, 1};
  range.local = {64, 1, 1};
  for (const double share : {0.0, 10.0, 50.0, 100.0})
    for (const bool separate : {true, false}) {
      const SplitTime time = runner.run_split(plan_split(range, 0, share), separate);
      EXPECT_EQ(runner.results(), expected) << share;
      EXPECT_GT(time.total_ms, 0);
      EXPECT_GE(time.total_ms, std::max(time.first_ms, time.second_ms) * 0.999);
    }
}

TEST_F(KernelRunnerTest, SubDevicesOfOneDeviceWork) {
  for (const OpenClDevice& device : list_opencl_devices()) {
    if (!device.can_be_divided) continue;
    const std::string half = device.id() + "/1";
    const auto halves = choose_devices(half + "," + half, list_opencl_devices());
    KernelSetup made = setup("y[i] = x[i] * x[i];");
    KernelRunner runner(halves, made);
    runner.run_whole(0);
    const auto expected = runner.results();
    runner.run_split(plan_split(made.range, 0, 40), true);
    EXPECT_EQ(runner.results(), expected);
    return;
  }
  GTEST_SKIP() << "no device here can be divided";
}

TEST_F(KernelRunnerTest, PlacesThatBothDevicesWroteAreAConflict) {
  KernelSetup made = setup("y[i % 64] = (float)i;");
  KernelRunner runner(devices_, made);
  runner.run_split(plan_split(made.range, 0, 50), true);
  try {
    runner.results();
    FAIL() << "no conflict";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("both devices wrote"));
  }
}

TEST_F(KernelRunnerTest, WritesBehindABufferAreTold) {
  KernelSetup made = setup("y[1000 + i % 8] = x[i];");
  made.arguments[1].bytes.resize(4000);  // 24 marked floats follow
  KernelRunner runner(devices_, made);
  runner.run_whole(0);
  EXPECT_THROW(runner.results(), Error);
}

TEST_F(KernelRunnerTest, BuildErrorsShowTheLog) {
  try {
    KernelRunner runner(devices_, setup("y[i] = no_such_name;"));
    FAIL() << "it was built";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot build"));
  }
}

}  // namespace
}  // namespace omen::loadbalance
