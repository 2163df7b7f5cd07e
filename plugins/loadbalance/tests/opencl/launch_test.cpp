// SPDX-License-Identifier: Apache-2.0
// Sizes, ranges and their division.
#include "opencl/launch.hpp"

#include <gtest/gtest.h>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

TEST(Sizes, TakeSuffixesAndUpToThreeNumbers) {
  EXPECT_EQ(parse_size("1M", "x"), 1000000u);
  EXPECT_EQ(parse_size("2Ki", "x"), 2048u);
  const Sizes sizes = parse_sizes("1k,2,3", "x");
  EXPECT_EQ(sizes.count, 3u);
  EXPECT_EQ(sizes.size[0], 1000u);
  EXPECT_EQ(sizes.size[2], 3u);
  for (const char* wrong : {"0", "-1", "1.5", "x", "1T", "1,2,3,4", "1,,2", "1e30"})
    EXPECT_THROW(parse_sizes(wrong, "--global"), Error) << wrong;
}

TEST(Ranges, AreCompletedFromWhatIsGiven) {
  RangeRequest request;
  request.input_bytes = 1000000;
  request.group_items = 256;
  LaunchRange range = make_range(request);
  EXPECT_EQ(range.local[0], 256u);
  EXPECT_EQ(range.global[0], 250112u);  // the next multiple of 256 above 250,000
  request = {};
  request.global = parse_sizes("100,60", "g");
  range = make_range(request);
  EXPECT_EQ(range.dimensions, 2u);
  EXPECT_EQ(range.local[0], 50u);  // divides the line
  EXPECT_EQ(range.items(), 6000u);
}

TEST(Ranges, RefuseGroupsThatDoNotFit) {
  RangeRequest request;
  request.global = parse_sizes("100", "g");
  request.local = parse_sizes("64", "l");
  EXPECT_THROW(make_range(request), Error);
  request.local = parse_sizes("10,10", "l");
  EXPECT_THROW(make_range(request), Error);
  request.local = parse_sizes("50", "l");
  request.largest_group = 32;
  EXPECT_THROW(make_range(request), Error);
  request.largest_group = 0;
  request.required = {25, 1, 1};
  EXPECT_THROW(make_range(request), Error);
  request.local = {};
  EXPECT_EQ(make_range(request).local[0], 25u);
}

TEST(Plans, AreWholeGroupsAndCoverTheRange) {
  LaunchRange range;
  range.dimensions = 2;
  range.global = {64, 100, 1};
  range.local = {16, 10, 1};
  for (const double share : {0.0, 1.0, 33.0, 50.0, 99.0, 100.0}) {
    const SplitPlan plan = plan_split(range, 1, share);
    EXPECT_EQ(plan.first.size[1] + plan.second.size[1], 100u);
    EXPECT_EQ(plan.first.size[1] % 10, 0u);
    EXPECT_EQ(plan.second.offset[1], plan.first.size[1]);
    EXPECT_EQ(plan.first.size[0], 64u);
    EXPECT_EQ(plan.first.empty(), share == 0);
    EXPECT_EQ(plan.second.empty(), share == 100);
  }
  EXPECT_DOUBLE_EQ(plan_split(range, 1, 33).share(), 30);
}

TEST(Plans, DivideTheDimensionWithMostGroups) {
  LaunchRange range;
  range.dimensions = 2;
  range.global = {64, 64, 1};
  range.local = {8, 8, 1};
  EXPECT_EQ(split_dimension(range, 7), 1u);
  EXPECT_EQ(split_dimension(range, 1), 0u);
  range.global = {64, 8, 1};
  EXPECT_EQ(split_dimension(range, 7), 0u);
  EXPECT_THROW(split_dimension(range, 2), Error);
}

}  // namespace
}  // namespace omen::loadbalance
