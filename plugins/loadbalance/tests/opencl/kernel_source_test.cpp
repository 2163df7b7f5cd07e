// SPDX-License-Identifier: Apache-2.0
// Signatures of kernels, and sources with rewritten built-ins.
#include "opencl/kernel_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

KernelSource read(const std::string& source, CompileOptions options = {}) {
  return read_kernels(source, "test.cl", options);
}

TEST(Signatures, SayWhatEachParameterIs) {
  const KernelSource source = read(R"cl(
typedef struct { int a; float b; } pair;
__kernel __attribute__((reqd_work_group_size(8, 4, 1)))
void k(__global const float4* x, __global int* y, __constant double* c, __local short* l,
       unsigned char v, float3 w, pair p, image2d_t image) {}
)cl");
  const Signature& k = source.kernel("");
  EXPECT_EQ(k.required_group, (std::array<std::size_t, 3>{8, 4, 1}));
  ASSERT_EQ(k.parameters.size(), 8u);
  const Parameter& x = k.parameters[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, "const __global float4 *");
  EXPECT_EQ(x.kind, ParameterKind::kBuffer);
  EXPECT_EQ(x.scalar, ScalarKind::kFloat);
  EXPECT_EQ(x.bytes, 16u);
  EXPECT_EQ(x.scalar_bytes, 4u);
  EXPECT_TRUE(x.constant);
  EXPECT_FALSE(k.parameters[1].constant);
  EXPECT_TRUE(k.parameters[2].constant);
  EXPECT_EQ(k.parameters[2].bytes, 8u);
  EXPECT_EQ(k.parameters[3].kind, ParameterKind::kLocal);
  EXPECT_EQ(k.parameters[4].scalar, ScalarKind::kUnsigned);
  EXPECT_EQ(k.parameters[5].bytes, 16u);
  EXPECT_EQ(k.parameters[6].scalar, ScalarKind::kOpaque);
  EXPECT_EQ(k.parameters[6].bytes, 8u);
  EXPECT_EQ(k.parameters[7].kind, ParameterKind::kUnsupported);
}

TEST(Signatures, KernelsAreFoundByName) {
  const KernelSource source = read("__kernel void a(void) {} __kernel void b(void) {}");
  EXPECT_EQ(source.kernel("b").kernel, "b");
  EXPECT_THROW(source.kernel(""), Error);
  EXPECT_THROW(source.kernel("c"), Error);
  EXPECT_THROW(read("int f(void) { return 1; }").kernel(""), Error);
}

TEST(Rewriting, LeavesOtherSourcesAlone) {
  const std::string text = "__kernel void k(__global float* y) { y[get_global_id(0)] = 1; }";
  const KernelSource source = read(text);
  EXPECT_EQ(source.split_text, text);
  EXPECT_THAT(source.rewritten, IsEmpty());
  EXPECT_THAT(source.takes_range, IsEmpty());
}

TEST(Rewriting, GroupIdsNeedNoFurtherParameter) {
  const KernelSource source =
      read("__kernel void k(__global int* y) { y[get_group_id(0)] = get_global_offset(0); }");
  EXPECT_THAT(source.split_text, HasSubstr("y[omen_get_group_id(0)] = omen_get_global_offset(0)"));
  EXPECT_THAT(source.rewritten, ElementsAre("get_global_offset", "get_group_id"));
  EXPECT_THAT(source.takes_range, IsEmpty());
}

TEST(Rewriting, SizesReachHelperFunctions) {
  const KernelSource source = read(R"cl(
int inner(void);
int outer(int a) { return a + inner(); }
int inner(void) { return (int)get_global_size(0); }
int aside(int a) { return a; }
__kernel void k(__global int* y) { y[get_global_id(0)] = outer(aside(1)) + inner(); }
__kernel void other(__global int* y) { y[get_global_id(0)] = aside(2); }
)cl");
  EXPECT_THAT(source.split_text, HasSubstr("int inner(ulong4 omen_size);"));
  EXPECT_THAT(source.split_text,
              HasSubstr("int outer(int a, ulong4 omen_size) { return a + inner(omen_size); }"));
  EXPECT_THAT(source.split_text, HasSubstr("omen_get_global_size(0, omen_size)"));
  EXPECT_THAT(source.split_text, HasSubstr("void k(__global int* y, ulong4 omen_size)"));
  EXPECT_THAT(source.split_text, HasSubstr("outer(aside(1), omen_size) + inner(omen_size)"));
  EXPECT_THAT(source.split_text, HasSubstr("void other(__global int* y) {"));
  EXPECT_THAT(source.takes_range, ElementsAre("k"));
  EXPECT_NO_THROW(read(source.split_text));
}

TEST(Rewriting, NestedCallsStayInOrder) {
  const KernelSource source = read(
      "__kernel void k(__global int* y) { y[get_num_groups(get_group_id(get_global_size(0) > 1))] "
      "= 1; }");
  EXPECT_THAT(source.split_text,
              HasSubstr("omen_get_num_groups(omen_get_group_id(omen_get_global_size(0, omen_size) "
                        "> 1), omen_size)"));
  EXPECT_NO_THROW(read(source.split_text));
}

TEST(Rewriting, MacrosAreResolvedFirst) {
  CompileOptions options;
  options.defines = {"WIDTH=get_global_size(0)"};
  const KernelSource source = read(R"cl(
#define GROUP get_group_id(0)
/* a comment */
__kernel void k(__global int* y) { y[get_global_id(0)] = GROUP * WIDTH + CLK_LOCAL_MEM_FENCE; }
)cl",
                                   options);
  EXPECT_TRUE(source.preprocessed);
  EXPECT_THAT(source.split_text, HasSubstr("omen_get_group_id(0) * omen_get_global_size(0, "));
  EXPECT_THAT(source.build_options, Not(HasSubstr("WIDTH")));
  EXPECT_NO_THROW(read(source.split_text));
}

TEST(Rewriting, DefinesArePassedOnWhereTheSourceIsKept) {
  CompileOptions options;
  options.defines = {"N=3"};
  const KernelSource source =
      read("__kernel void k(__global int* y) { y[get_global_id(0)] = N; }", options);
  EXPECT_FALSE(source.preprocessed);
  EXPECT_THAT(source.build_options, HasSubstr("-DN=3"));
}

TEST(Rewriting, BrokenSourcesAreRefused) {
  EXPECT_THROW(read("__kernel void k( {"), Error);
  EXPECT_THROW(read("#include \"no_such_file.h\"\n__kernel void k(void) {}"), Error);
}

}  // namespace
}  // namespace omen::loadbalance
