// SPDX-License-Identifier: Apache-2.0
// Which kernels may be divided, and the reasons against the others.
#include "opencl/splittable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opencl/own_kernels.hpp"

namespace omen::loadbalance {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SplitVerdict judge(const std::string& body, const std::string& before = "") {
  return judge_split(
      before +
          "\n__kernel void k(__global float* a, __global const float* b, __global int* c, int "
          "n) { size_t i = get_global_id(0); size_t j = get_global_id(1); " +
          body + " }",
      "test.cl", {}, "k");
}

void expect_fine(const std::string& body, unsigned dimensions = 1) {
  const SplitVerdict verdict = judge(body);
  EXPECT_EQ(verdict.reason(), "") << body;
  EXPECT_EQ(verdict.dimensions, dimensions) << body;
}

void expect_reason(const std::string& body, const std::string& reason) {
  EXPECT_THAT(judge(body).reason(), HasSubstr(reason)) << body;
}

TEST(Splittable, IndependentItemsAre) {
  expect_fine("a[i] = b[i] + b[i + 1];");
  expect_fine("if (i < n) a[i] = a[i] * 2 + b[i];");
  expect_fine("float s = 0; for (int k = 0; k < n; ++k) s += b[i * n + k]; a[i] = s;");
  expect_fine("for (int k = 0; k < n; ++k) a[i * n + k] += b[k];");
  expect_fine("a[j * n + i] = 1;", 3);
  expect_fine("a[j] = b[j];", 2);
  expect_fine("if (get_local_id(0) == 0) a[get_group_id(0)] = 1;");
  expect_fine("if (i == 0) a[0] = 3;");
  expect_fine("vstore4(vload4(i, b), i, a);");
  expect_fine(
      "__local float t[64]; t[get_local_id(0)] = b[i]; barrier(CLK_LOCAL_MEM_FENCE); "
      "a[i] = t[63 - get_local_id(0)];");
  expect_fine("__local int t[1]; atomic_inc(t); a[i] = t[0];");
}

TEST(Splittable, WrittenBuffersAreNamed) {
  EXPECT_THAT(judge("a[i] = b[i];").written, ElementsAre(true, false, false, false));
  EXPECT_THAT(judge("atomic_inc(c);").written, ElementsAre(false, false, true, false));
}

TEST(Splittable, WhatCannotBeProvenIsNoted) {
  EXPECT_THAT(judge("a[c[i]] = 1;").notes, ElementsAre(HasSubstr("depends on data")));
  EXPECT_THAT(judge("a[i % 16] = 1;").notes, ElementsAre(HasSubstr("the same place of 'a'")));
  EXPECT_THAT(judge("a[i] = 1;").notes, IsEmpty());
  EXPECT_THAT(judge("uint u = i; if (u < n) a[u] = 1;").notes, IsEmpty());
}

TEST(Splittable, AtomicsAcrossGroupsAreNot) {
  expect_reason("atomic_add(&c[n], 1);", "atomic_add on 'c' reaches across work-groups (line 2)");
  expect_reason("if (b[i] > 0) a[atomic_inc(c)] = b[i];", "atomic_inc on 'c'");
}

TEST(Splittable, DependenceOnOtherGroupsIsNot) {
  expect_reason("a[i] = a[i - 1] + a[i + 1];", "it reads 'a' where another work-group may write");
  expect_reason("a[i] = b[i]; barrier(CLK_GLOBAL_MEM_FENCE); a[i] += a[(i + 64) % n];",
                "it reads 'a'");
  expect_reason(
      "*(volatile __global int*)(c + i) = 1; while (*(volatile __global int*)(c + n) == "
      "0) {} a[i] = 1;",
      "it watches 'c'");
}

TEST(Splittable, FlagsMayBeRaisedByAnyone) {
  expect_fine("if (b[i] > 0) c[0] = 1; a[i] = b[i];");
  expect_fine("if (b[i] > 0) c[0] = n; a[i] = b[i];");
  expect_fine("a[i] = b[i]; if (a[i] > 3) c[get_local_id(0)] = 1;");
  expect_fine("if (b[i] > 0) { c[n] = 7; c[0] = 7; } a[i] = 1;");
  expect_reason("c[0] = 0; if (b[i] > 0) c[0] = 1; a[i] = 1;", "same place of 'c'");
  expect_reason("if (b[i] > 0) c[0] = 1; c[i + 1] = 2;", "same place of 'c'");
  expect_reason("if (b[i] > 0) c[0] = (int)i; a[i] = 1;", "same place of 'c'");
  expect_reason("c[0] = c[0] + 1; a[i] = 1;", "same place of 'c'");
  expect_reason("if (c[0] == 0) a[i] = 1; if (b[i] > 0) c[0] = 1;", "it reads 'c'");
  expect_reason("for (int k = 0; k < n; ++k) c[0] = k; a[i] = 1;", "same place of 'c'");
}

TEST(Splittable, WhatLiesBeforeAllThatIsWrittenMayBeRead) {
  expect_fine("a[n * n + n + 1 + i] /= a[n * n + n];");  // lu: the row of a pivot
  expect_fine("int g = get_global_id(0); a[n + 1 + g] -= a[n] * b[g];");
  expect_fine("a[n + 4 + i] = a[n] + a[n + 1] + a[n + 3];");
  expect_fine("for (int k = 0; k < 8; ++k) a[8 + i] += a[k];");
  expect_fine("int g = get_global_id(0); a[n - 1 - g] *= a[n];");
  expect_reason("a[n + i] /= a[n];", "it reads 'a'");
  expect_reason("a[n + 1 + i] /= a[n + 1];", "it reads 'a'");
  expect_reason("int g = get_global_id(0); a[n + 1 + g] = a[n + 2 + g];", "it reads 'a'");
  expect_reason("int g = get_global_id(0); a[n + 1 - g] = a[n];", "it reads 'a'");
  expect_reason("for (int k = 0; k < 9; ++k) a[8 + i] += a[k];", "it reads 'a'");
  expect_reason("for (int k = 0; k < n; ++k) a[8 + i] += a[k];", "it reads 'a'");
  expect_reason("for (int k = 0; k < n; k += get_local_size(0)) a[1 + i] += a[k];", "it reads 'a'");
  expect_reason("a[1 + i] += a[get_local_id(0)];", "it reads 'a'");
  expect_reason("a[1 + get_group_id(0)] += a[get_local_id(0)];", "it reads 'a'");
  expect_reason("a[c[0] + 1 + i] += a[c[1]];", "it reads 'a'");
  expect_reason("((__global double*)a)[i + 1] += a[2];", "it reads 'a'");
}

TEST(Splittable, NeighboursInTheOwnRowMayBeRead) {
  const std::string row = "int g = get_global_id(0); ";
  expect_fine(row + "for (int k = 1; k < n; ++k) a[g * n + k] += a[g * n + k - 1];");
  expect_reason(row + "for (int k = 0; k < n; ++k) a[g * n + k] += a[g * n + k - 1];", "reads 'a'");
  expect_reason(row + "for (int k = 1; k <= n; ++k) a[g * n + k] += a[g * n + k - 1];",
                "reads 'a'");
  expect_reason(row + "for (int k = 0; k < n; ++k) a[g * n + k] += a[g * n + k + 1];", "reads 'a'");
  expect_reason(row + "for (int k = 1; k < 2 * n; ++k) a[g * n + k] += a[g * n + k - 1];",
                "reads 'a'");
  expect_reason(row + "for (int k = 1; k < n; ++k) a[g * n + k] += a[n + k - 1];", "reads 'a'");
  expect_reason(row + "for (int k = 1; k < n; ++k) a[g * n + k] += a[g * 2 * n + k - 1];",
                "reads 'a'");
  expect_reason(row + "for (int k = 1; k < n; ++k) a[(g + 1) * n + k] += a[g * n + k];",
                "reads 'a'");
  expect_reason(row + "for (int k = 1; k < n; ++k) a[g * n + k] += a[g * n + c[k]];", "reads 'a'");
  expect_reason(row + "for (int k = 1; k < n; ++k) a[g / 2 * n + k] += a[g / 2 * n + k - 1];",
                "reads 'a'");
  expect_reason(
      row + "for (int k = 1; k < n; ++k) a[g * n + k] += ((__global double*)a)[g * n + k - 1];",
      "reads 'a'");
}

TEST(Splittable, WhatOnlyALaunchKnowsIsAConditionOfIt) {
  const auto conditions = [](const std::string& body) {
    const SplitVerdict verdict = judge(body);
    EXPECT_EQ(verdict.reason(), "") << body;
    std::vector<std::string> texts;
    for (const LaunchCondition& condition : verdict.conditions) texts.push_back(condition.text);
    return texts;
  };
  EXPECT_THAT(conditions("a[1 + n * i] /= a[0];"), Contains("n - 2 >= 0"));
  EXPECT_THAT(conditions("if (i == 0) a[n] = 1; else a[i] = a[i] * 2;"),
              Contains("n - 1 - get_global_id(0) >= 0"));
  EXPECT_THAT(conditions("for (int k = 0; k < n; ++k) a[i * n + k] += 1;"), IsEmpty());
  EXPECT_THAT(conditions("for (size_t k = i; k < n; k += get_global_size(0)) a[k] += 1;"),
              ElementsAre("n >= 0"));
  EXPECT_THAT(conditions("if (i < n) a[j * n + i] += 1;"), ElementsAre("n >= 0"));
  EXPECT_THAT(conditions("int g = get_global_id(0); if (g < n) a[j * n + g] += 1;"), IsEmpty());
}

TEST(Splittable, RowsThatDataMakeLongAreCheckedAtTheMerge) {
  const SplitVerdict verdict = judge("for (int k = 0; k < c[i]; ++k) a[i * n + k] += 1;");
  EXPECT_EQ(verdict.reason(), "");
  EXPECT_THAT(verdict.exclusive, ElementsAre(true, false, false, false));
  EXPECT_THAT(judge("a[i] += 1;").exclusive, ElementsAre(false, false, false, false));
}

TEST(Splittable, ReadsThatNoStoreShowsAreNotLeftToTheMerge) {
  const auto rows = [](const std::string& body) {
    return "for (int k = 0; k < c[i]; ++k) { __global float* p = a + i * n + k; " + body + " }";
  };
  for (const char* update : {"*p *= 2;", "*p -= b[k];", "*p = mad(b[k], 2.0f, *p);"})
    EXPECT_EQ(judge(rows(update)).reason(), "") << update;
  for (const char* other :
       {"if (*p > 0) *p += 1;", "float v = *p; *p = b[k] > 0 ? 7 : v;",
        "float v = *p + 1; *p = v; c[n + i] = v;", "*p = fmax(*p, b[k]);", "*p = 1 - *p;"})
    expect_reason(rows(other), "it reads 'a'");
}

TEST(Splittable, ValuesThatBranchesOnIdsChooseAreNotTheSameForAll) {
  expect_reason("int m = 1; if (b[i] > 0) { c[i] = 1; m = 2; } a[i + m] += 1;", "it reads 'a'");
}

TEST(Splittable, OnePlaceForAllGroupsIsNot) {
  expect_reason("a[0] = b[i];", "every work-group writes the same place of 'a'");
  expect_reason("if (i < n) a[0] = b[i];", "every work-group writes the same place of 'a'");
  expect_reason("a[get_local_id(0)] = b[i];", "every work-group writes the same place of 'a'");
  expect_reason("a[i] = 1; ((__global float*)c)[j] = 2;", "no dimension");
}

TEST(Splittable, HelperFunctionsAreLookedThrough) {
  const SplitVerdict verdict =
      judge("update(a, i);",
            "__attribute__((noinline)) void update(__global float* p, size_t at) { p[at] = p[at + "
            "1]; }");
  EXPECT_THAT(verdict.reason(), HasSubstr("it reads 'a' where another work-group may write"));
  EXPECT_EQ(judge("put(a, i);", "void put(__global float* p, size_t at) { p[at] = 1; }").reason(),
            "");
  EXPECT_THAT(judge("a[i] = missing(1);", "float missing(int);").reason(),
              HasSubstr("'missing' has no body"));
}

TEST(Splittable, OwnKernelsAreJudgedAsTheyAreMeant) {
  const auto reason = [](const OwnKernel& kernel) {
    return judge_split(kernel.source, "own.cl", {}, kernel.name).reason();
  };
  for (const OwnKernel& kernel : divisible_kernels()) EXPECT_EQ(reason(kernel), "") << kernel.name;
  for (const OwnKernel& kernel : indivisible_kernels())
    EXPECT_NE(reason(kernel), "") << kernel.name;
}

TEST(Splittable, ImagesAreNotMerged) {
  const SplitVerdict verdict = judge_split(
      "__kernel void k(__write_only image2d_t out) { write_imagef(out, (int2)(get_global_id(0), "
      "0), "
      "(float4)(1)); }",
      "test.cl", {}, "k");
  EXPECT_THAT(verdict.reason(), HasSubstr("it writes an image"));
}

TEST(Splittable, FieldsOfOneElementBelongToItsItem) {
  const std::string body =
      "typedef struct { float x, m; } body; __kernel void k(__global body* p) { size_t i = "
      "get_global_id(0); p[i].x += p[i].m; }";
  EXPECT_EQ(judge_split(body, "test.cl", {}, "k").reason(), "");
}

TEST(Splittable, EveryStoreToABufferIsJudged) {
  expect_reason("a[i] = a[i] * 2; a[n - i] = 1;",
                "it reads 'a' where another work-group may write");
  const SplitVerdict verdict = judge("a[i] = a[i] * 2;\nif (b[i] > 0)\n  a[i + 1] = 1;");
  EXPECT_THAT(verdict.reason(),
              HasSubstr("it reads 'a' where another work-group may write it in line 4 (line 2)"));
  expect_fine("a[2 * i] = a[2 * i] + a[2 * i + 1]; a[2 * i + 1] = 0;");
  expect_reason("a[2 * i] = a[2 * i] + a[2 * i + 2]; a[2 * i + 1] = 0;", "it reads 'a'");
  expect_fine("int g = get_global_id(0); a[3 * g] = a[3 * g + 2]; a[3 * g + 2] = b[g];");
}

TEST(Splittable, LoopsMustStayWithinTheirItem) {
  expect_fine("for (int k = 0; k < 4; ++k) a[i * 4 + k] += b[k];");
  expect_reason("for (int k = 0; k < 5; ++k) a[i * 4 + k] += b[k];", "it reads 'a'");
  expect_reason("for (int k = 0; k < n; ++k) a[i + k] += b[k];", "it reads 'a'");
  expect_reason("for (int k = 1; k < n; k *= 2) a[i + k] += b[k];", "it reads 'a'");
  expect_fine(
      "for (int k = 0; k < n; ++k) a[i * n + k] = 0; for (int k = 0; k < n; ++k) a[i * n + k] += "
      "b[k];");
  expect_reason("for (int k = 0; k < n; ++k) a[i * n + k] += b[k]; a[i * n + n] = 0;",
                "it reads 'a'");
  expect_fine("for (size_t k = i; k < n; k += get_global_size(0)) a[k] += b[k];");
  EXPECT_THAT(judge("for (int k = 0; k < n; ++k) a[i + k] = b[k];").notes,
              ElementsAre(HasSubstr("the same place of 'a'")));
}

TEST(Splittable, OwnPlacesMustBelongToOneItem) {
  expect_reason("a[c[i]] += 1;", "it reads 'a'");
  expect_reason("a[i % 16] += 1;", "it reads 'a'");
  expect_reason("a[i & 31] += 1;", "it reads 'a'");
  expect_reason("a[i / 2] += 1;", "it reads 'a'");
  expect_reason("a[get_group_id(0) + get_local_id(0)] += 1;", "it reads 'a'");
  expect_fine("a[get_group_id(0) * get_local_size(0) + get_local_id(0)] += 1;");
  expect_fine("a[j * n + i] += 1;", 3);
}

TEST(Splittable, CastAndOffsetPointersAreFollowed) {
  expect_fine("__global float* p = a + 64; p[i] = p[i] + 1;");
  expect_reason("__global float* p = a + 64; p[i] = a[i];", "it reads 'a'");
  expect_reason("__global float* p = (__global float*)((__global char*)a + i); *p += 1;",
                "it reads 'a'");
  expect_fine("__global float4* p = (__global float4*)a; p[i].x += a[4 * i + 3];");
  expect_reason("__global float4* p = (__global float4*)a; p[i].x += a[4 * i + 4];",
                "it reads 'a'");
  expect_fine("vstore4(vload4(i, a) * 2, i, a);");
  expect_reason("vstore4(vload4(i, a) * 2, i + 1, a);", "it reads 'a'");
  expect_reason("vstore4(vload4(0, a + i) * 2, 0, a + i);", "it reads 'a'");
  expect_reason("__global float* p = (__global float*)((size_t)a | i); *p = 1;",
                "it writes through a pointer whose buffer cannot be told");
  expect_reason("__global float* p = n > 3 ? a : (__global float*)c; p[i] = a[i + 1];",
                "it reads 'a'");
}

TEST(Splittable, InnerIndicesStayWithinTheirArrays) {
  const auto reason = [](const std::string& body) {
    return judge_split(
               "__kernel void k(__global float (*p)[8][4], int n) { size_t i = get_global_id(0), j "
               "= "
               "get_global_id(1); " +
                   body + " }",
               "test.cl", {}, "k")
        .reason();
  };
  EXPECT_EQ(reason("for (int m = 0; m < n; ++m) p[j][i][m] += p[j][i][n - m];"), "");
  EXPECT_EQ(reason("p[i][3][2] = 1; for (int m = 0; m < n; ++m) p[i][m][1] += p[i][0][m];"), "");
  EXPECT_THAT(reason("for (int m = 0; m < n; ++m) p[j + 1][i][m] += p[j][i][m];"),
              HasSubstr("it reads 'p'"));
  EXPECT_EQ(reason("p[j][1][i] = 1; for (int m = 0; m < n; ++m) p[j][m][i] += p[j][0][i];"), "");
  EXPECT_THAT(reason("p[i / 2][0][0] += 1;"), HasSubstr("it reads 'p'"));
  EXPECT_THAT(reason("for (int m = 0; m < n; ++m) p[i + m][0][0] += 1;"),
              HasSubstr("it reads 'p'"));
}

TEST(Splittable, OneItemMayReadWhatItWrites) {
  expect_fine("if (i == 0) a[0] += b[0];");
  expect_reason("float x = a[0]; c[i] = x; if (i == 0) a[0] = x + b[0];", "it reads 'a'");
}

TEST(Splittable, BordersBelongToTheItemThatIsThere) {
  expect_fine("if (i == 3) a[3] = 1; else a[i] = a[i] * 2;");
  expect_fine("int g = get_global_id(0); if (g == n - 1) a[n - 1] = 1; else a[g] = a[g] * 2;");
  expect_fine("if (i == 0) a[j * n] = 1; else a[j * n + i] += 2;", 2);
  expect_reason("if (i == 3) a[4] = 1; else a[i] = a[i] * 2;", "it reads 'a'");
}

}  // namespace
}  // namespace omen::loadbalance
