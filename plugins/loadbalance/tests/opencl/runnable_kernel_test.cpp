// SPDX-License-Identifier: Apache-2.0
// What one process tells another of a kernel, and how devices are named.
#include "opencl/runnable_kernel.hpp"

#include <gtest/gtest.h>

#include "omen/error.hpp"
#include "opencl/device_choice.hpp"

namespace omen::loadbalance {
namespace {

TEST(RunnableKernel, ComesBackFromItsText) {
  RunnableKernel kernel;
  kernel.text = "kernel void k() {} // caf\xc3\xa9";
  kernel.split_text = "rewritten";
  kernel.build_options = "-cl-std=CL1.2 -DN=\"1\"";
  kernel.signature.kernel = "k";
  kernel.signature.required_group = {8, 4, 1};
  const Bound reach{BoundKind::kSum, 0, {{BoundKind::kGlobalId, 1}, {BoundKind::kConstant, -4}}};
  kernel.signature.parameters = {
      {"x", "float*", ParameterKind::kBuffer, ScalarKind::kFloat, 4, 16, true, {reach}}};
  kernel.rewritten = {"get_group_id"};
  kernel.takes_range = true;
  kernel.verdict.reasons = {"a", "b"};
  kernel.verdict.notes = {"c"};
  kernel.verdict.dimensions = 5;
  kernel.verdict.written = kernel.verdict.exclusive = {true};
  kernel.verdict.conditions = {{reach, "n >= 0"}};
  const RunnableKernel back = runnable_kernel_from(to_json(kernel));
  EXPECT_EQ(back.text, kernel.text);
  EXPECT_EQ(back.signature.required_group, kernel.signature.required_group);
  EXPECT_EQ(back.signature.parameters.at(0).bytes, 16u);
  EXPECT_EQ(back.signature.parameters[0].reach.at(0).parts.at(1).value, -4);
  EXPECT_EQ(back.verdict.reason(), "a; b");
  EXPECT_EQ(back.verdict.dimensions, 5u);
  EXPECT_EQ(back.verdict.exclusive, kernel.verdict.exclusive);
  EXPECT_EQ(back.verdict.conditions.at(0).text, "n >= 0");
  EXPECT_EQ(to_json(back), to_json(kernel));
}

TEST(RunnableKernel, OtherTextsAreRefused) {
  for (const char* text : {"", "{}", "[1]", R"({"text": 1})"})
    EXPECT_THROW(runnable_kernel_from(text), Error) << text;
}

TEST(DeviceChoice, IsReadAsItIsWritten) {
  for (const char* text : {"0:0", "1:12", "0:1/3"}) EXPECT_EQ(parse_device(text)->id(), text);
  for (const char* text : {"", "0", "0:", ":1", "0:1/", "0:1/0", "0:1/2x", "-1:0", "0:0 "})
    EXPECT_FALSE(parse_device(text)) << text;
  EXPECT_EQ((*parse_devices("0:0/1,0:0/2"))[1].units_of, 2u);
  for (const char* text : {"0:0", "0:0,", "0:0,0:1,0:2"}) EXPECT_FALSE(parse_devices(text)) << text;
}

}  // namespace
}  // namespace omen::loadbalance
