// SPDX-License-Identifier: Apache-2.0
// Columns change their type and never their values.
#include "tables/column_types.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace omen::host {
namespace {

using ::testing::ElementsAre;

Table column_of(std::vector<double> values) {
  return TableBuilder().add("x", std::move(values), {{"omen.unit", "ms"}}).finish();
}

TEST(ColumnTypes, WholeRealsBecomeWholeNumbersWithTheirUnit) {
  const CastColumn cast = cast_column(column_of({1e3, 512.0, -1e9}), 0, Type::kInt64);
  ASSERT_TRUE(cast.table);
  const auto values = cast.table->column<std::int64_t>(0);
  EXPECT_EQ(std::vector<std::int64_t>(values.begin(), values.end()),
            (std::vector<std::int64_t>{1000, 512, -1000000000}));
  EXPECT_EQ(cast.table->metadata(0, "omen.unit"), "ms");
}

TEST(ColumnTypes, ARowThatDoesNotFitIsNamed) {
  EXPECT_EQ(cast_column(column_of({1, 512.5}), 0, Type::kInt64).unfit, 1);
  EXPECT_EQ(cast_column(column_of({1, std::ldexp(1.0, 63)}), 0, Type::kInt64).unfit, 1);
  EXPECT_TRUE(cast_column(column_of({-std::ldexp(1.0, 63)}), 0, Type::kInt64).table);
  EXPECT_EQ(cast_column(column_of({-1}), 0, Type::kUInt8).unfit, 0);
  EXPECT_EQ(cast_column(column_of({0, 1, 2}), 0, Type::kBool).unfit, 2);
  EXPECT_EQ(cast_column(column_of({INFINITY}), 0, Type::kInt32).unfit, 0);
  const Table wide = TableBuilder().add<std::int64_t>("x", {1, 1 << 20}).finish();
  EXPECT_EQ(cast_column(wide, 0, Type::kInt16).unfit, 1);
}

TEST(ColumnTypes, NothingStaysNothing) {
  const Table gaps =
      TableBuilder().add("x", std::vector<double>{1, 2.5}).valid({true, false}).finish();
  const CastColumn cast = cast_column(gaps, 0, Type::kInt64);
  ASSERT_TRUE(cast.table) << "the value behind a null is nobody's";
  EXPECT_TRUE(cast.table->is_null(0, 1));
  const CastColumn nan = cast_column(column_of({1, std::nan("")}), 0, Type::kInt64);
  ASSERT_TRUE(nan.table);
  EXPECT_TRUE(nan.table->is_null(0, 1));
}

TEST(ColumnTypes, NumbersBecomeTextsAndTextNeverANumber) {
  const Table whole = TableBuilder().add<std::int64_t>("x", {7, 8}).finish();
  const CastColumn text = cast_column(whole, 0, Type::kDictionary);
  ASSERT_TRUE(text.table);
  EXPECT_EQ(text.table->strings(0)[0], "7");
  const Table words = TableBuilder().add_strings("x", {"7"}).finish();
  const CastColumn number = cast_column(words, 0, Type::kInt64);
  EXPECT_FALSE(number.table);
  EXPECT_EQ(number.unfit, -1);
  const Table blank = TableBuilder().add_strings("x", {""}).valid({false}).finish();
  EXPECT_TRUE(cast_column(blank, 0, Type::kInt64).table) << "without a value there is no kind";
}

TEST(ColumnTypes, PartsGetTheTypeThatHoldsAllOfThem) {
  std::vector<Tables> parts{
      {{"workloads", TableBuilder().add<std::int64_t>("m", {4}).add_strings("n", {"a"}).finish()}},
      {{"workloads",
        TableBuilder().add("m", std::vector<double>{2.5}).add_categories("n", {"b"}).finish()}}};
  ASSERT_TRUE(like_columns(parts[0], parts[1]));
  unify_types(parts);
  EXPECT_TRUE(same_columns(parts[0], parts[1]));
  EXPECT_THAT(parts[0].at("workloads").numbers("m"), ElementsAre(4));
  EXPECT_THAT(parts[1].at("workloads").numbers("m"), ElementsAre(2.5));
  const Tables other{
      {"workloads", TableBuilder().add_strings("m", {"x"}).add_strings("n", {"b"}).finish()}};
  EXPECT_FALSE(like_columns(parts[0], other));
}

}  // namespace
}  // namespace omen::host
