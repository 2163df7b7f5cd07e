// SPDX-License-Identifier: Apache-2.0
// Pairs held out by either key: no training row holds a key that is held out.
#include "data/listed_split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "omen/testing/errors.hpp"

namespace omen::host {
namespace {

using test::error_of;
using test::IsError;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

struct Pairs {
  Names first, second;
  explicit Pairs(int keys) {
    for (int a = 0; a < keys; ++a)
      for (int b = a; b < keys; ++b) {
        first.push_back("k" + std::to_string(a));
        second.push_back("k" + std::to_string(b));
      }
  }
  const std::string& key(int column, std::int64_t row) const {
    return (column == 0 ? first : second)[static_cast<std::size_t>(row)];
  }
};

TaskSplit pair_split(MixedRows mixed, int folds = 4, int repeats = 2) {
  TaskSplit split;
  split.kind = SplitKind::kGroupPair;
  split.folds = folds;
  split.repeats = repeats;
  split.keys = {"a", "b"};
  split.mixed = mixed;
  return split;
}

// Keys of one fold that no training row holds.
std::set<std::string> held_out(const Pairs& pairs, const Fold& fold) {
  std::set<std::string> held;
  for (const std::int64_t row : fold.test)
    for (const int column : {0, 1}) held.insert(pairs.key(column, row));
  for (const std::int64_t row : fold.train)
    for (const int column : {0, 1}) held.erase(pairs.key(column, row));
  return held;
}

TEST(ListedSplits, NoTrainingRowHoldsAKeyThatIsHeldOut) {
  const Pairs pairs(12);
  for (const MixedRows mixed : {MixedRows::kTest, MixedRows::kObserve, MixedRows::kDrop}) {
    const auto folds = listed_folds(pair_folds(pair_split(mixed), pairs.first, pairs.second));
    ASSERT_EQ(folds.size(), 8u);
    std::set<std::string> ever;
    for (const Fold& fold : folds) {
      const std::set<std::string> held = held_out(pairs, fold);
      EXPECT_EQ(held.size(), 3u) << "12 keys in 4 folds";
      ever.insert(held.begin(), held.end());
      std::size_t train_rows_with_held = 0, mixed_rows = 0;
      for (std::int64_t row = 0; row < static_cast<std::int64_t>(pairs.first.size()); ++row) {
        const auto keys = held.count(pairs.key(0, row)) + held.count(pairs.key(1, row));
        mixed_rows += keys == 1;
        if (keys > 0)
          train_rows_with_held +=
              std::count(fold.train.begin(), fold.train.end(), row) > 0 ? 1u : 0u;
      }
      EXPECT_EQ(train_rows_with_held, 0u);
      EXPECT_EQ(mixed_rows, 27u);
      EXPECT_EQ(fold.train.size(), 45u);
      EXPECT_EQ(fold.test.size(), mixed == MixedRows::kTest ? 33u : 6u);
      EXPECT_EQ(fold.observe.size(), mixed == MixedRows::kObserve ? 27u : 0u);
    }
    EXPECT_EQ(ever.size(), 12u) << "every key is held out once a repeat";
  }
}

TEST(ListedSplits, RepeatsDrawOtherKeysAndSayTheSameAgain) {
  const Pairs pairs(12);
  const auto folds = [&] {
    return listed_folds(pair_folds(pair_split(MixedRows::kTest), pairs.first, pairs.second));
  };
  EXPECT_EQ(folds()[4].name, "r1.0");
  EXPECT_NE(folds()[0].test, folds()[4].test);
  EXPECT_EQ(folds()[3].test, folds()[3].test);
}

TEST(ListedSplits, WhatCannotBeSplitIsRefused) {
  const Pairs pairs(3);
  const auto refusal = [&](const TaskSplit& split, const Pairs& rows) {
    return error_of([&] { pair_folds(split, rows.first, rows.second); });
  };
  EXPECT_THAT(refusal(pair_split(MixedRows::kTest, 4), pairs),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("4 folds of 3 keys")));
  Pairs no_self(3);
  no_self.first = {"k0", "k0", "k1"};
  no_self.second = {"k1", "k2", "k2"};
  EXPECT_THAT(refusal(pair_split(MixedRows::kDrop, 3), no_self),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("no test rows in fold 0")));
  no_self.second[1].clear();
  EXPECT_THAT(refusal(pair_split(MixedRows::kTest, 3), no_self),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("no key in row 1")));
}

}  // namespace
}  // namespace omen::host
