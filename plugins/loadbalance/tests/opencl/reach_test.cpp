// SPDX-License-Identifier: Apache-2.0
// How far kernels reach into their buffers.
#include "opencl/reach.hpp"

#include <gtest/gtest.h>

namespace omen::loadbalance {
namespace {

// Bytes that `body` reaches of a, for a range of 8 x 4 in groups of 2 x 2, n = 5 and m = 3.
double reached(const std::string& body) {
  const std::string source =
      "__kernel void k(__global float* a, __global const int* b, const int n, const int m) { int x "
      "= get_global_id(0), y = get_global_id(1); " +
      body + " }";
  LaunchRange range;
  range.dimensions = 2;
  range.global = {8, 4, 1};
  range.local = {2, 2, 1};
  const auto numbers = [](std::size_t i) -> std::optional<std::int64_t> {
    return i == 2 ? 5 : i == 3 ? 3 : std::optional<std::int64_t>();
  };
  double most = 0;
  const std::vector<std::vector<Bound>> reach = read_reach(source, "test.cl", {}, "k");
  for (const Bound& bound : reach.at(0))
    most = std::max(most, largest_value(bound, range, numbers).value_or(0));
  return most;
}

TEST(Reach, FollowsIdsSizesAndLoops) {
  EXPECT_EQ(reached("a[x] = 1;"), 8 * 4);
  EXPECT_EQ(reached("a[x + 1] = 1;"), 9 * 4);
  EXPECT_EQ(reached("a[y * n + x] = 1;"), (3 * 5 + 7 + 1) * 4);
  EXPECT_EQ(reached("a[x * n] = 1;"), (7 * 5 + 1) * 4);
  EXPECT_EQ(reached("a[y * get_global_size(0) + x] = 1;"), 8 * 4 * 4);
  EXPECT_EQ(reached("a[get_group_id(0) * 64 + get_local_id(0)] = 1;"), (3 * 64 + 1 + 1) * 4);
  EXPECT_EQ(reached("for (int i = 0; i < n; ++i) a[x * n + i] += 1;"), 8 * 5 * 4);
  EXPECT_EQ(reached("float s = 0; for (int i = 0; i < n; ++i) s += a[i * m + 2]; a[0] = s;"),
            (4 * 3 + 2 + 1) * 4);
}

TEST(Reach, LeavesOutWhatDataDecide) {
  EXPECT_EQ(reached("a[b[x]] = 1;"), 0);
  EXPECT_EQ(reached("a[b[x]] = 1; a[x] = 2;"), 8 * 4);
}

}  // namespace
}  // namespace omen::loadbalance
