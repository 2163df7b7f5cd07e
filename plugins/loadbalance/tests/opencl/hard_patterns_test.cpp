// SPDX-License-Identifier: Apache-2.0
// Patterns of dense algebra, graphs and filters that can be divided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opencl/splittable.hpp"

namespace omen::loadbalance {
namespace {

struct HardPattern {
  const char* name;
  const char* body;
};

// i, j: global ids; t: a step that the host counts; n: the length of a row.
constexpr HardPattern kHardPatterns[] = {
    {"pivot_row", "a[t * n + t + 1 + i] /= a[t * n + t];"},
    {"pivot_column", "c[(t + 1 + i) * n + t] = a[(t + 1 + i) * n + t] / a[t * n + t];"},
    {"trailing_matrix",
     "a[(t + 1 + j) * n + t + 1 + i] -= a[(t + 1 + j) * n + t] * a[t * n + t + 1 + i];"},
    {"eliminate", "a[(t + 1 + j) * n + t + i] -= c[(t + 1 + j) * n + t] * a[t * n + t + i];"},
    {"row_sweep", "for (int k = 1; k < n; ++k) a[i * n + k] -= a[i * n + k - 1] * b[i * n + k];"},
    {"row_sweep_back",
     "for (int k = n - 2; k >= 0; --k) a[i * n + k] -= a[i * n + k + 1] * b[i * n + k];"},
    {"row_end", "a[i * n + n - 1] /= b[i * n + n - 1];"},
    {"column_step", "a[t * n + i] -= a[(t - 1) * n + i] * b[i];"},
    {"symmetric",
     "float s = b[i]; for (int k = i + 1; k < n; ++k) { c[i * n + k] = s; c[k * n + i] = s; }"},
    {"raise_flag", "if (b[i] > 0) { a[i] = 1; c[0] = 1; }"},
    {"raise_argument", "if (b[i] > a[i]) { a[i] = b[i]; c[t] = n; }"},
    {"raise_by_level", "if (a[i] > 0) { a[i] = 0; c[get_local_id(0)] = 1; }"},
    {"weights", "a[(1 + j) * n + 1 + i] += b[i]; if (j == 0) a[1 + i] += b[i];"},
    {"wavefront", "int r = t - i, q = i; a[(r + 1) * n + q + 1] = a[r * n + q] + b[i];"},
    {"strided_sums", "float s = 0; for (int k = 0; k < 8; ++k) s += a[i * 8 + k]; a[i * 8] = s;"},
    {"before_all", "for (int k = 0; k < 16; ++k) a[16 + i] += a[k] * b[i];"},
    {"likelihood", "float s = 0; for (int k = 0; k < n; ++k) s += b[c[i * n + k]]; a[i] = s / n;"},
};

std::string reason_of(const HardPattern& pattern) {
  return judge_split(
             "__kernel void k(__global float* a, __global const float* b, __global int* c, int n, "
             "int t) { int i = get_global_id(0); int j = get_global_id(1); " +
                 std::string(pattern.body) + " }",
             "test.cl", {}, "k")
      .reason();
}

TEST(HardPatterns, AreDivided) {
  for (const HardPattern& pattern : kHardPatterns)
    EXPECT_EQ(reason_of(pattern), "") << pattern.name;
}

}  // namespace
}  // namespace omen::loadbalance
