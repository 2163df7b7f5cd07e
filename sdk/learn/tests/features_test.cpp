// SPDX-License-Identifier: Apache-2.0
// The design matrix: scaling, categories, bags, nulls, logarithms, ranges and persistence.
#include "omen/learn/features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/error.hpp>

namespace omen::learn {
namespace {

using testing::ElementsAre;

Column numbers(std::string name, std::vector<double> values) {
  Column column;
  column.name = std::move(name);
  column.numbers = std::move(values);
  return column;
}

Column words(std::string name, std::vector<std::string> labels, std::vector<std::int32_t> codes) {
  Column column;
  column.name = std::move(name);
  column.categorical = true;
  column.labels = std::move(labels);
  column.codes = std::move(codes);
  return column;
}

Frame frame(Index rows, std::vector<Column> columns, std::vector<Bag> bags = {}) {
  return {rows, std::move(columns), std::move(bags)};
}

TEST(Features, StandardisesNumbersWithTheMomentsOfFit) {
  FeatureEncoder encoder;
  encoder.fit(frame(4, {numbers("x", {1, 2, 3, 4})}), Scaling::kStandardised, false);
  const Encoded encoded = encoder.encode(frame(2, {numbers("x", {2.5, 3.5})}));
  EXPECT_DOUBLE_EQ(encoded.x(0, 0), 0.0);
  EXPECT_NEAR(encoded.x(1, 0), 1.0 / std::sqrt(1.25), 1e-12);
}

TEST(Features, ConstantColumnsAreSilent) {
  FeatureEncoder encoder;
  encoder.fit(frame(3, {numbers("x", {0.1, 0.1, 0.1})}), Scaling::kStandardised, false);
  EXPECT_EQ(encoder.encode(frame(1, {numbers("x", {99})})).x(0, 0), 0.0);
}

TEST(Features, NullsTakeTheMeanAndGainAnIndicatorOnlyIfFitSawThem) {
  FeatureEncoder encoder;
  encoder.fit(frame(4, {numbers("x", {1, kUnknown, 3, 2}), numbers("z", {1, 2, 3, 4})}),
              Scaling::kStandardised, false);
  EXPECT_THAT(encoder.names(), ElementsAre("x", "x.(null)", "z"));
  const Encoded encoded =
      encoder.encode(frame(1, {numbers("x", {kUnknown}), numbers("z", {INFINITY})}));
  EXPECT_THAT(std::vector<double>(encoded.x.data(), encoded.x.data() + 3), ElementsAre(0, 1, 0));
}

TEST(Features, TreesGetRawValuesAndMissingOnes) {
  FeatureEncoder encoder;
  encoder.fit(frame(2, {numbers("x", {1, kUnknown})}), Scaling::kRaw, true);
  EXPECT_THAT(encoder.names(), ElementsAre("x"));
  const Encoded encoded = encoder.encode(frame(2, {numbers("x", {7, kUnknown})}));
  EXPECT_EQ(encoded.x(0, 0), 7);
  EXPECT_TRUE(std::isnan(encoded.x(1, 0)));
}

TEST(Features, CategoriesAreOneHotWithABucketForRareAndUnseenOnes) {
  FeatureEncoder encoder;
  encoder.fit(frame(5, {words("op", {"conv", "pool", "odd"}, {0, 0, 1, 1, 2})}),
              Scaling::kStandardised, false);
  EXPECT_THAT(encoder.names(), ElementsAre("op=conv", "op=pool", "op=(other)"));
  const Encoded encoded =
      encoder.encode(frame(3, {words("op", {"pool", "odd", "never"}, {0, 1, 2})}));
  EXPECT_EQ(encoded.x, (Matrix(3, 3) << 0, 1, 0, 0, 0, 1, 0, 0, 1).finished());
  EXPECT_THAT(encoded.extrapolating, ElementsAre(false, false, true));
}

TEST(Features, NullCategoriesHaveTheirOwnIndicator) {
  FeatureEncoder encoder;
  encoder.fit(frame(3, {words("op", {"a"}, {0, 0, -1})}), Scaling::kStandardised, false);
  EXPECT_THAT(encoder.names(), ElementsAre("op=a", "op=(other)", "op=(null)"));
  const Encoded encoded = encoder.encode(frame(1, {words("op", {}, {-1})}));
  EXPECT_EQ(encoded.x, (Matrix(1, 3) << 0, 0, 1).finished());
  EXPECT_FALSE(encoded.extrapolating[0]);
}

TEST(Features, BagLabelsBecomeCounts) {
  const Bag bag{
      "op", {"conv", "relu", "odd"}, {{0, 0, 2}, {0, 1, 1}, {1, 0, 4}, {1, 1, 3}, {1, 2, 5}}};
  FeatureEncoder encoder;
  encoder.fit(frame(2, {}, {bag}), Scaling::kRaw, false);
  EXPECT_THAT(encoder.names(), ElementsAre("op.conv", "op.relu", "op.(other)"));
  const Bag other{"op", {"new", "relu", "conv"}, {{0, 1, 2}, {0, 2, 3}, {1, 0, 1}}};
  const Encoded encoded = encoder.encode(frame(2, {}, {other}));
  EXPECT_EQ(encoded.x, (Matrix(2, 3) << 3, 2, 0, 0, 0, 1).finished());
  EXPECT_THAT(encoded.extrapolating, ElementsAre(false, true));
}

TEST(Features, OutsideMeansBeyondTheRangeWidenedByATenth) {
  FeatureEncoder encoder;
  encoder.fit(frame(2, {numbers("x", {10, 20})}), Scaling::kStandardised, false);
  const Encoded encoded = encoder.encode(frame(5, {numbers("x", {8.9, 9, 21, 21.1, kUnknown})}));
  EXPECT_THAT(encoded.extrapolating, ElementsAre(true, false, false, true, false));
}

TEST(Features, WideColumnsBecomeLogarithmsWhenAsked) {
  const Frame wide = frame(3, {numbers("t", {1, 10, 1000}), numbers("n", {0, 5, 500}),
                               numbers("s", {-1, 5, 500}), numbers("m", {10, 20, 30})});
  FeatureEncoder encoder;
  encoder.fit(wide, Scaling::kStandardised, false);
  EXPECT_FALSE(encoder.uses_logarithms());
  encoder.fit(wide, Scaling::kStandardised, true);
  EXPECT_TRUE(encoder.uses_logarithms());
  const Matrix x = encoder.encode(wide).x;
  // Equal steps in log t, in log1p n, but not in s and m.
  EXPECT_NEAR((x(1, 0) - x(0, 0)) / (x(2, 0) - x(1, 0)), 0.5, 1e-9);
  EXPECT_NEAR((x(1, 1) - x(0, 1)) / (x(2, 1) - x(1, 1)), std::log(6) / std::log(501.0 / 6), 1e-9);
  EXPECT_NEAR((x(1, 2) - x(0, 2)) / (x(2, 2) - x(1, 2)), 6.0 / 495, 1e-9);
  EXPECT_NEAR((x(1, 3) - x(0, 3)) / (x(2, 3) - x(1, 3)), 1.0, 1e-9);
}

TEST(Features, ALogarithmWithoutAValueIsFiniteAndExtrapolating) {
  FeatureEncoder encoder;
  encoder.fit(frame(2, {numbers("t", {1, 1000})}), Scaling::kStandardised, true);
  const Encoded encoded = encoder.encode(frame(1, {numbers("t", {0})}));
  EXPECT_TRUE(std::isfinite(encoded.x(0, 0)));
  EXPECT_TRUE(encoded.extrapolating[0]);
}

TEST(Features, MissingAndRetypedColumnsAreNamed) {
  FeatureEncoder encoder;
  encoder.fit(frame(2, {numbers("batch", {1, 2})}), Scaling::kStandardised, false);
  try {
    encoder.encode(frame(1, {numbers("other", {1})}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
    EXPECT_THAT(error.what(), testing::HasSubstr("'batch' is missing"));
    EXPECT_FALSE(error.hint().empty());
  }
  try {
    encoder.encode(frame(1, {words("batch", {"one"}, {0})}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("trained on numbers"));
  }
}

TEST(Features, ColumnOrderDoesNotMatter) {
  FeatureEncoder encoder;
  encoder.fit(frame(2, {numbers("a", {1, 2}), numbers("b", {5, 9})}), Scaling::kRaw, false);
  const Matrix x = encoder.encode(frame(1, {numbers("b", {7}), numbers("a", {3})})).x;
  EXPECT_EQ(x, (Matrix(1, 2) << 3, 7).finished());
}

Frame everything() {
  return frame(4,
               {numbers("x", {1, kUnknown, 3, 4000}), numbers("y", {0, 1, 0, 1}),
                words("w", {"a", "b", "c"}, {0, 0, 1, 2}), words("v", {"u"}, {0, -1, 0, -1})},
               {{"op", {"p", "q"}, {{0, 0, 1}, {1, 0, 2}, {2, 1, 900}, {3, 0, 1}}}});
}

TEST(Features, SaveAndLoadGiveTheSameMatrix) {
  for (const Scaling scaling : {Scaling::kRaw, Scaling::kStandardised}) {
    FeatureEncoder encoder, loaded;
    encoder.fit(everything(), scaling, true);
    MemoryState state;
    encoder.save(state);
    loaded.load(state);
    EXPECT_EQ(loaded.names(), encoder.names());
    const Encoded a = encoder.encode(everything()), b = loaded.encode(everything());
    EXPECT_TRUE(a.x.array().isNaN().cwiseEqual(b.x.array().isNaN()).all());
    EXPECT_EQ(a.x.array().isNaN().select(0.0, a.x), b.x.array().isNaN().select(0.0, b.x));
    EXPECT_EQ(a.extrapolating, b.extrapolating);
  }
}

TEST(Features, DamagedStateIsRefused) {
  FeatureEncoder encoder;
  encoder.fit(everything(), Scaling::kStandardised, true);
  MemoryState good;
  encoder.save(good);
  for (const auto& [name, tensor] : good.tensors) {
    MemoryState bad = good;
    bad.tensors.erase(name);
    EXPECT_THROW(FeatureEncoder().load(bad), Error) << name;
    bad.put(name, {tensor.dtype, {static_cast<std::int64_t>(1) << 62}, {}});
    EXPECT_THROW(FeatureEncoder().load(bad), Error) << name;
  }
  MemoryState greedy = good;
  greedy.put_integers("features.category.0.kept", {99});
  EXPECT_THROW(FeatureEncoder().load(greedy), Error);
}

TEST(Features, AppendJoinsRowsAndLabels) {
  Frame first = frame(1, {numbers("x", {1}), words("w", {"a"}, {0})}, {{"op", {"p"}, {{0, 0, 2}}}});
  append_rows(first, frame(2, {words("w", {"b", "a"}, {1, -1}), numbers("x", {2, 3})},
                           {{"op", {"q"}, {{1, 0, 3}}}}));
  EXPECT_EQ(first.rows, 3);
  EXPECT_THAT(first.columns[0].numbers, ElementsAre(1, 2, 3));
  FeatureEncoder encoder;
  encoder.fit(first, Scaling::kRaw, false);
  const Matrix x = encoder.encode(first).x;
  EXPECT_THAT(encoder.names(), ElementsAre("x", "w=a", "w=(other)", "w=(null)", "op.(other)"));
  EXPECT_EQ(x.col(1), (Vector(3) << 1, 1, 0).finished());
  EXPECT_EQ(x.col(4), (Vector(3) << 2, 0, 3).finished());
}

}  // namespace
}  // namespace omen::learn
