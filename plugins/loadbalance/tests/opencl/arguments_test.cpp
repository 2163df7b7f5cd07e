// SPDX-License-Identifier: Apache-2.0
// Arguments from texts and from signatures.
#include "opencl/arguments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

Parameter buffer(const char* name, ScalarKind kind = ScalarKind::kFloat, std::size_t bytes = 4) {
  return {name, "T*", ParameterKind::kBuffer, kind, 4, bytes, false};
}
Parameter value(const char* name, ScalarKind kind, std::size_t scalar, std::size_t bytes) {
  return {name, "T", ParameterKind::kValue, kind, scalar, bytes, false};
}

template <class T>
T at(const Argument& argument, std::size_t index = 0) {
  T found;
  std::memcpy(&found, &argument.bytes.at(index * sizeof(T)), sizeof found);
  return found;
}

Signature saxpy() {
  return {"saxpy",
          {value("a", ScalarKind::kFloat, 4, 4), buffer("x"), buffer("y"),
           value("n", ScalarKind::kUnsigned, 4, 4)},
          {}};
}

ArgumentRequest request(std::vector<std::string> given = {}) {
  ArgumentRequest made;
  made.range.global = {128, 1, 1};
  made.range.local = {64, 1, 1};
  made.given = std::move(given);
  return made;
}

TEST(Arguments, ComeFromTheSignature) {
  const auto arguments = make_arguments(saxpy(), request());
  ASSERT_EQ(arguments.size(), 4u);
  EXPECT_EQ(at<float>(arguments[0]), 0.5F);
  EXPECT_EQ(arguments[1].bytes.size(), 512u);
  EXPECT_NE(arguments[1].bytes, arguments[2].bytes);
  EXPECT_EQ(at<std::uint32_t>(arguments[3]), 128u);
  for (const Argument& argument : arguments) EXPECT_TRUE(argument.made);
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_GE(at<float>(arguments[1], i), 0);
    EXPECT_LT(at<float>(arguments[1], i), 1);
  }
  EXPECT_EQ(make_arguments(saxpy(), request())[1].bytes, arguments[1].bytes);
}

TEST(Arguments, ComeFromTextsByIndexAndName) {
  const auto arguments = make_arguments(saxpy(), request({"a=2.5", "1=buffer:1Ki:zero", "n=7"}));
  EXPECT_EQ(at<float>(arguments[0]), 2.5F);
  EXPECT_EQ(arguments[1].bytes, std::vector<unsigned char>(1024, 0));
  EXPECT_EQ(at<std::uint32_t>(arguments[3]), 7u);
  EXPECT_FALSE(arguments[3].made);
  EXPECT_TRUE(arguments[2].made);
}

TEST(Arguments, ComeFromFiles) {
  const auto path = std::filesystem::temp_directory_path() / "omen_arguments_test.bin";
  std::ofstream(path, std::ios::binary) << "abcdefgh";
  const auto arguments = make_arguments(saxpy(), request({"x=buffer:8:" + path.string()}));
  EXPECT_EQ(arguments[1].bytes[7], 'h');
  EXPECT_THROW(make_arguments(saxpy(), request({"x=buffer:9:" + path.string()})), Error);
  std::filesystem::remove(path);
  EXPECT_THROW(make_arguments(saxpy(), request({"x=buffer:8:" + path.string()})), Error);
}

TEST(Arguments, RandomIndicesStayInsideOfTheSmallestBuffer) {
  Signature gather{"gather", {buffer("in"), buffer("index", ScalarKind::kSigned)}, {}};
  const auto arguments = make_arguments(gather, request({"in=buffer:40"}));
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_GE(at<std::int32_t>(arguments[1], i), 0);
    EXPECT_LT(at<std::int32_t>(arguments[1], i), 10);
  }
}

TEST(Arguments, CountsFollowTheDimensionOfTheirName) {
  Signature image{
      "image",
      {value("width", ScalarKind::kSigned, 4, 4), value("height", ScalarKind::kSigned, 4, 4),
       value("box", ScalarKind::kSigned, 4, 16)},
      {}};
  ArgumentRequest wide = request({"2=1,2,3,4"});
  wide.range.dimensions = 2;
  wide.range.global = {64, 32, 1};
  const auto arguments = make_arguments(image, wide);
  EXPECT_EQ(at<std::int32_t>(arguments[0]), 64);
  EXPECT_EQ(at<std::int32_t>(arguments[1]), 32);
  EXPECT_EQ(at<std::int32_t>(arguments[2], 3), 4);
}

TEST(Arguments, TextsThatDoNotFitAreRefused) {
  for (const char* wrong :
       {"9=1", "z=1", "noequals", "n=x", "n=1,2", "x=5", "x=buffer:0", "=1", "n=", "a=buffer:4"})
    EXPECT_THROW(make_arguments(saxpy(), request({wrong})), Error) << wrong;
  Signature image{"image", {{"i", "image2d_t", ParameterKind::kUnsupported}}, {}};
  EXPECT_THROW(make_arguments(image, request()), Error);
}

// Bytes behind `id(0) * n + k` floats with k below n.
Bound row_of_floats(std::int64_t argument) {
  const Bound n{BoundKind::kArgument, argument}, id{BoundKind::kGlobalId, 0};
  const Bound last{BoundKind::kUpTo, 0, {{BoundKind::kSum, 0, {n, {BoundKind::kConstant, -1}}}}};
  const Bound index{BoundKind::kSum, 0, {{BoundKind::kProduct, 0, {id, n}}, last}};
  const Bound four{BoundKind::kConstant, 4};
  return {BoundKind::kSum, 0, {{BoundKind::kProduct, 0, {index, four}}, four}};
}

TEST(Arguments, BuffersAreAsLargeAsTheKernelReaches) {
  Signature matrix = saxpy();
  matrix.parameters[1].reach = {row_of_floats(3)};
  EXPECT_EQ(make_arguments(matrix, request())[1].bytes.size(), 128u * 128 * 4);
  EXPECT_EQ(make_arguments(matrix, request())[2].bytes.size(), 512u);
  EXPECT_EQ(make_arguments(matrix, request({"n=10"}))[1].bytes.size(), 128u * 10 * 4);
  EXPECT_EQ(make_arguments(matrix, request({"x=buffer:64"}))[1].bytes.size(), 64u);
  EXPECT_EQ(wanted_bytes(matrix, request()), 128.0 * 128 * 4 + 512);
}

TEST(Arguments, WhatNobodyCanHaveIsNotMade) {
  Signature matrix = saxpy();
  matrix.parameters[1].reach = {row_of_floats(3)};
  EXPECT_EQ(make_arguments(matrix, request({"n=1000000000"}))[1].bytes.size(), 512u);
  EXPECT_GT(wanted_bytes(matrix, request({"n=1000000000"})), 1e11);
}

}  // namespace
}  // namespace omen::loadbalance
