// SPDX-License-Identifier: Apache-2.0
// How rows become folds: complete, disjoint, grouped, balanced, and the same on every platform.
#include "data/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "omen/testing/errors.hpp"

namespace omen::host {
namespace {

using test::error_of;
using test::IsError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Names = std::vector<std::string>;

TaskSplit split_of(SplitKind kind, int folds = 5, int repeats = 1,
                   Assignment assignment = Assignment::kNone) {
  TaskSplit split;
  split.kind = kind;
  split.folds = folds;
  split.repeats = repeats;
  split.assignment = assignment;
  split.column = "column";
  return split;
}

// Group g has g + 1 rows.
Names ladder(int groups) {
  Names labels;
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i <= g; ++i) labels.push_back("g" + std::to_string(g));
  return labels;
}

std::vector<Fold> folds_for(const TaskSplit& split, std::size_t rows, const Names& labels = {}) {
  return folds_of(split, assign_folds(split, rows, labels));
}

// Every row is tested once per repeat and trained on otherwise.
void expect_partition(const std::vector<Fold>& folds, std::size_t rows, int repeats) {
  std::map<int, std::vector<std::int64_t>> tested;
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.train.size() + fold.test.size(), rows);
    std::set<std::int64_t> both(fold.train.begin(), fold.train.end());
    both.insert(fold.test.begin(), fold.test.end());
    EXPECT_EQ(both.size(), rows) << "train and test share a row";
    tested[fold.repeat].insert(tested[fold.repeat].end(), fold.test.begin(), fold.test.end());
  }
  EXPECT_EQ(tested.size(), static_cast<std::size_t>(repeats));
  for (auto& [repeat, all] : tested) {
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), rows);
    for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i));
  }
}

TEST(Splits, KFoldIsAPartitionOfEvenSize) {
  const auto folds = folds_for(split_of(SplitKind::kKFold, 4, 3), 103);
  expect_partition(folds, 103, 3);
  ASSERT_THAT(folds, SizeIs(12));
  for (const Fold& fold : folds) EXPECT_NEAR(static_cast<double>(fold.test.size()), 25.75, 1);
  EXPECT_EQ(folds[0].name, "0");
  EXPECT_EQ(folds[5].name, "r1.1");
  EXPECT_NE(folds[0].test, folds[4].test) << "a repeat has the next seed";
}

// Pinned: a frozen task must come out the same on every machine and with every library.
TEST(Splits, SeedsArePinned) {
  const auto k = assign_folds(split_of(SplitKind::kKFold, 3), 12, {});
  EXPECT_THAT(k[0], ElementsAre("0", "1", "2", "1", "0", "0", "1", "0", "2", "2", "2", "1"));
  const auto grouped = assign_folds(split_of(SplitKind::kGroupedKFold, 3, 1, Assignment::kShuffled),
                                    10, {"a", "b", "c", "d", "e", "a", "b", "c", "d", "e"});
  EXPECT_EQ(Names(grouped[0].begin(), grouped[0].begin() + 5),
            Names(grouped[0].begin() + 5, grouped[0].end()));
  EXPECT_THAT(Names(grouped[0].begin(), grouped[0].begin() + 5),
              ElementsAre("2", "0", "0", "1", "1"));
}

TEST(Splits, GroupsStayTogetherAndAreBalanced) {
  const Names labels = ladder(20);
  for (const Assignment assignment : {Assignment::kShuffled, Assignment::kBalanced}) {
    const auto split = split_of(SplitKind::kGroupedKFold, 5, 2, assignment);
    const auto folds = folds_for(split, labels.size(), labels);
    expect_partition(folds, labels.size(), 2);
    for (const Fold& fold : folds) {
      std::set<std::string> train, test;
      for (const auto row : fold.train) train.insert(labels[static_cast<std::size_t>(row)]);
      for (const auto row : fold.test) test.insert(labels[static_cast<std::size_t>(row)]);
      for (const std::string& group : test) EXPECT_EQ(train.count(group), 0u) << group;
      // Largest first into the emptiest fold: 210 rows in 5 folds differ by less than a group.
      if (assignment == Assignment::kBalanced) {
        EXPECT_NEAR(static_cast<double>(fold.test.size()), 42, 3);
      }
    }
  }
}

TEST(Splits, LeaveOneGroupOutNumbersTheGroups) {
  const Names labels = ladder(4);
  const auto folds = folds_for(split_of(SplitKind::kLeaveOneGroupOut, 0), labels.size(), labels);
  expect_partition(folds, labels.size(), 1);
  ASSERT_THAT(folds, SizeIs(4));
  EXPECT_EQ(folds[2].name, "2");
  EXPECT_THAT(folds[2].test, ElementsAre(3, 4, 5));
}

TEST(Splits, FixedByRoleOrByName) {
  const auto roles =
      folds_for(split_of(SplitKind::kFixed, 0), 4, {"train", "valid", "test", "train"});
  ASSERT_THAT(roles, SizeIs(1));
  EXPECT_THAT(roles[0].train, ElementsAre(0, 3));
  EXPECT_THAT(roles[0].valid, ElementsAre(1));
  EXPECT_THAT(roles[0].test, ElementsAre(2));
  const auto named = folds_for(split_of(SplitKind::kFixed, 0), 4, {"x", "y", "x", "y"});
  ASSERT_THAT(named, SizeIs(2));
  EXPECT_EQ(named[0].name, "x");
  EXPECT_THAT(named[0].train, ElementsAre(1, 3));
  EXPECT_THAT(named[0].valid, IsEmpty());
}

TEST(Splits, RefusesWhatDoesNotFit) {
  const auto refuses = [](const TaskSplit& split, std::size_t rows, const Names& labels,
                          const char* what) {
    EXPECT_THAT(error_of([&] { assign_folds(split, rows, labels); }),
                IsError(OMEN_INVALID_ARGUMENT, HasSubstr(what)));
  };
  refuses(split_of(SplitKind::kKFold, 5), 4, {}, "5 folds of 4 rows");
  refuses(split_of(SplitKind::kKFold, 1), 4, {}, "fewer than two folds");
  refuses(split_of(SplitKind::kKFold, 2, 0), 4, {}, "no repeats");
  refuses(split_of(SplitKind::kKFold, 2), 0, {}, "no rows");
  refuses(split_of(SplitKind::kGroupedKFold, 3, 1, Assignment::kBalanced), 3, {"a", "a", "b"},
          "3 folds of 2 groups");
  refuses(split_of(SplitKind::kLeaveOneGroupOut, 0), 2, {"a", "a"}, "one group only");
  refuses(split_of(SplitKind::kLeaveOneGroupOut, 0), 2, {"a", ""}, "no value in row 1");
  refuses(split_of(SplitKind::kLeaveOneGroupOut, 0, 2), 2, {"a", "b"}, "the same every time");
  refuses(split_of(SplitKind::kFixed, 0), 2, {"train", "train"}, "no row marked 'test'");
  refuses(split_of(SplitKind::kFixed, 0), 2, {"train", "x"}, "mixes 'train'");
  refuses(split_of(SplitKind::kFixed, 0), 2, {"x", "x"}, "one fold only");
}

}  // namespace
}  // namespace omen::host
