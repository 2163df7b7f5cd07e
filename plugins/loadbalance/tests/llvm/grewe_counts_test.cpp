// SPDX-License-Identifier: Apache-2.0
// Grewe's counts follow the text of a kernel and the conventions of the published tables.
#include "llvm/grewe_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

GreweCounts count(const std::string& source) {
  const std::vector<GreweCounts> list = count_grewe(source, "k.cl", {});
  EXPECT_EQ(list.size(), 1u);
  return list.empty() ? GreweCounts{} : list[0];
}

std::string in_a_kernel(const std::string& body) {
  return "kernel void k(global float* a, global const float* b, local float* s, constant float* c, "
         "int n) { int i = get_global_id(0); " +
         body + " }";
}

TEST(GreweCounts, CountsATriadAsPublished) {
  const GreweCounts counts = count(in_a_kernel("if (i < n) a[i] = b[i] + n * b[i];"));
  EXPECT_EQ(counts.kernel, "k");
  EXPECT_EQ(counts.comp, 2);
  EXPECT_EQ(counts.rational, 1);
  EXPECT_EQ(counts.mem, 3);
  EXPECT_EQ(counts.localmem, 0);
  EXPECT_EQ(counts.coalesced, 3);
  EXPECT_EQ(counts.atomic, 0);
}

TEST(GreweCounts, CountsACompoundAssignmentOnce) {
  const GreweCounts counts = count(in_a_kernel("a[i * n] += b[n * i + 3];"));
  EXPECT_EQ(counts.mem, 2);
  EXPECT_EQ(counts.coalesced, 0) << "products are no simple indices";
  EXPECT_EQ(counts.comp, 4);
}

TEST(GreweCounts, CountsLocalMemoryAsMemoryToo) {
  const GreweCounts counts =
      count(in_a_kernel("local float t[64]; t[0] = 1; t[i] = s[i + n]; a[i - 1] = t[i] + c[i];"));
  EXPECT_EQ(counts.localmem, 4);
  EXPECT_EQ(counts.mem, 5) << "constant memory does not count";
  EXPECT_EQ(counts.coalesced, 1);
}

TEST(GreweCounts, LeavesStepsOfLoopsOut) {
  const GreweCounts counts = count(in_a_kernel("for (int j = 0; j < n; ++j) a[j] = 0;"));
  EXPECT_EQ(counts.comp, 0);
  EXPECT_EQ(counts.rational, 1);
}

TEST(GreweCounts, CountsFunctionsAtomicsAndHelpers) {
  const GreweCounts counts = count(
      "float helper(float x) { return sin(x) * x; }\n"
      "kernel void k(global int* n, global float* a) {\n"
      "  atomic_inc(n); barrier(CLK_LOCAL_MEM_FENCE); a[0] = helper(a[1]); *n = 2; }");
  EXPECT_EQ(counts.atomic, 1);
  EXPECT_EQ(counts.comp, 2);
  EXPECT_EQ(counts.mem, 4);
}

TEST(GreweCounts, TakesTheInnermostIndexOfStructuresAndArrays) {
  const GreweCounts counts = count(
      "struct p { float x, y; };\n"
      "kernel void k(global struct p* a, global float (*b)[4], int i) {\n"
      "  a[i].y = 0; b[i * i][i] = 1; b[i][i * i] = 2; a->x = 3; }");
  EXPECT_EQ(counts.mem, 4);
  EXPECT_EQ(counts.coalesced, 2);
}

TEST(GreweCounts, GivesOneEntryPerKernel) {
  const auto list = count_grewe(
      "kernel void one(global int* a) { a[0] = 1; } kernel void two(global int* a) {}", "k.cl", {});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].kernel, "one");
  EXPECT_EQ(list[0].mem, 1);
  EXPECT_EQ(list[1].mem, 0);
}

TEST(GreweCounts, GrowsWithTheSourceAndNotWithItsSquare) {
  std::string body;
  for (int i = 0; i < 4000; ++i) body += "a[1] += b[0];\n";
  EXPECT_EQ(count(in_a_kernel(body)).mem, 8000);
}

TEST(GreweCounts, FailsAsTheCompilerDoes) {
  EXPECT_THROW(count_grewe("kernel void k(", "k.cl", {}), Error);
}

}  // namespace
}  // namespace omen::loadbalance
