// SPDX-License-Identifier: Apache-2.0
// Merging and comparing of buffers.
#include "opencl/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace omen::loadbalance {
namespace {

Bytes floats(std::initializer_list<float> values) {
  Bytes bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

TEST(Merge, TakesWhatEachDeviceChanged) {
  const Merged merged = merge_results(floats({0, 0, 0, 9}), floats({1, 2, 0, 9}),
                                      floats({0, 0, 3, 9}), 4, Overlap::kAlike);
  EXPECT_EQ(merged.bytes, floats({1, 2, 3, 9}));
  EXPECT_EQ(merged.conflicts, 0u);
}

TEST(Merge, CountsPlacesThatBothChanged) {
  const auto merge = [](Overlap overlap) {
    return merge_results(floats({0, 5, 0}), floats({1, 2, 5}), floats({1, 3, 5}), 4, overlap);
  };
  EXPECT_EQ(merge(Overlap::kAlike).conflicts, 1u);
  EXPECT_EQ(merge(Overlap::kAlike).first_conflict, 1u);
  EXPECT_EQ(merge(Overlap::kNone).conflicts, 3u);
  EXPECT_EQ(merge(Overlap::kNone).first_conflict, 0u);
}

TEST(Compare, FindsTheLargestError) {
  const Difference difference =
      compare_results(floats({1, 2, NAN, 4}), floats({1, 2.5, NAN, 4.1F}), ScalarKind::kFloat, 4);
  EXPECT_EQ(difference.scalars, 4u);
  EXPECT_EQ(difference.unequal, 2u);
  EXPECT_EQ(difference.at, 1u);
  EXPECT_DOUBLE_EQ(difference.largest_absolute, 0.5);
  EXPECT_DOUBLE_EQ(difference.largest_relative, 0.2);
  EXPECT_EQ(difference.scale, 4);
  EXPECT_TRUE(difference.equal_within(0.125, ScalarKind::kFloat));
  EXPECT_FALSE(difference.equal_within(0.1, ScalarKind::kFloat));
  EXPECT_FALSE(difference.equal_within(1, ScalarKind::kSigned));
}

TEST(Compare, KnowsWholeNumbersHalvesAndBytes) {
  const Bytes a{1, 0, 0, 0}, b{0xFF, 0xFF, 0xFF, 0xFF};
  EXPECT_EQ(compare_results(a, b, ScalarKind::kSigned, 4).largest_absolute, 2);
  EXPECT_EQ(compare_results(a, b, ScalarKind::kOpaque, 1).unequal, 4u);
  const Bytes one{0x00, 0x3C}, two{0x00, 0x40};
  EXPECT_EQ(compare_results(one, two, ScalarKind::kFloat, 2).largest_absolute, 1);
  EXPECT_EQ(compare_results(floats({1}), floats({NAN}), ScalarKind::kFloat, 4).largest_absolute,
            INFINITY);
}

}  // namespace
}  // namespace omen::loadbalance
