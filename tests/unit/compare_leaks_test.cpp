// SPDX-License-Identifier: Apache-2.0
// Near-duplicates are found, kept on one side, and shuffled labels keep nothing but their values.
#include "compare/leaks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/compare_plan.hpp"

namespace omen::host {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::Ne;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

Tables scalars(std::vector<double> x, std::vector<std::string> dtype) {
  std::vector<std::int64_t> ids;
  std::vector<std::string> groups, names;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ids.push_back(static_cast<std::int64_t>(i));
    groups.push_back("g" + std::to_string(i));
    names.push_back("n" + std::to_string(i));
  }
  return {{"workloads", TableBuilder()
                            .add("workload_id", ids)
                            .add_categories("group", groups)
                            .add_strings("name", names)
                            .add("x", std::move(x))
                            .add_categories("dtype", dtype)
                            .finish()}};
}

Fold fold(std::vector<std::int64_t> train, std::vector<std::int64_t> test) {
  Fold out;
  out.train = std::move(train);
  out.test = std::move(test);
  return out;
}

TEST(LeaksTest, RowsWithTheSameFeaturesAreDuplicatesWhateverTheirNames) {
  const auto keys = duplicate_keys(scalars({1, 1, 1, 1.0000000001, 2}, {"a", "a", "b", "a", "a"}));
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_EQ(keys[0], keys[3]) << "equal to six digits";
  EXPECT_NE(keys[0], keys[2]);
  EXPECT_NE(keys[0], keys[4]);
}

TEST(LeaksTest, LeakingRowsAreThoseInBothSets) {
  const std::vector<std::string> keys{"a", "a", "b", "c", "b"};
  EXPECT_EQ(leaking_rows({fold({0, 2}, {1, 3})}, keys), 1);
  EXPECT_EQ(leaking_rows({fold({0, 1}, {2, 3, 4})}, keys), 0);
  Fold with_valid = fold({3}, {1});
  with_valid.valid = {0};
  EXPECT_EQ(leaking_rows({with_valid}, keys), 1) << "validation rows are learnt from, too";
  EXPECT_EQ(leaking_rows({fold({0}, {1}), fold({1}, {0})}, keys), 2);
}

// Graphs 0 and 1 are alike, 2 has another op, 3 another edge.
Tables graphs() {
  Tables tables = scalars({1, 2, 3, 4}, {"a", "a", "a", "a"});
  tables["nodes"] =
      TableBuilder()
          .add("graph_id", std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3})
          .add("node_id", std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1})
          .add_categories("op", {"add", "mul", "add", "mul", "add", "div", "add", "mul"})
          .finish();
  tables["edges"] = TableBuilder()
                        .add("graph_id", std::vector<std::int64_t>{0, 1, 2, 3})
                        .add("src", std::vector<std::int32_t>{0, 0, 0, 1})
                        .add("dst", std::vector<std::int32_t>{1, 1, 1, 0})
                        .finish();
  return tables;
}

TEST(LeaksTest, TheSameGraphIsADuplicateWhateverTheScalars) {
  const auto keys = duplicate_keys(graphs());
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_NE(keys[0], keys[2]);
  EXPECT_NE(keys[0], keys[3]);
}

TEST(LeaksTest, PairsOfGraphsAreComparedInOrder) {
  Tables tables = graphs();
  tables["workloads"] = with_values(
      with_values(tables["workloads"], "graph_id.0", std::vector<std::int64_t>{0, 1, 2, 0}),
      "graph_id.1", std::vector<std::int64_t>{2, 2, 0, 3});
  const auto keys = duplicate_keys(tables);
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_NE(keys[0], keys[2]);
  EXPECT_NE(keys[0], keys[3]);
}

TEST(LeaksTest, GroupedFoldsKeepDuplicatesTogetherAndTestEveryRowOnce) {
  const PlannedTask task = test::small_task({40, 8, 4, false});
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back("k" + std::to_string(i / 2));
  ASSERT_GT(leaking_rows(task.folds, keys), 0);
  const auto folds = grouped_folds(task.task, task.tables, task.folds, keys);
  ASSERT_THAT(folds, SizeIs(4));
  EXPECT_EQ(leaking_rows(folds, keys), 0);
  std::vector<std::int64_t> tested;
  for (const Fold& f : folds) {
    tested.insert(tested.end(), f.test.begin(), f.test.end());
    EXPECT_EQ(f.train.size() + f.test.size(), 40u);
    EXPECT_EQ(f.test.size(), 10u);
  }
  std::sort(tested.begin(), tested.end());
  for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(tested[static_cast<std::size_t>(i)], i);
}

TEST(LeaksTest, AGroupedSplitStaysGrouped) {
  PlannedTask task = test::small_task({40, 8, 4, false});
  task.task.split.kind = SplitKind::kGroupedKFold;
  task.task.split.column = "group";
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back("k" + std::to_string(i));
  keys[1] = keys[0];  // joins groups g0 and g1
  const auto folds = grouped_folds(task.task, task.tables, task.folds, keys);
  ASSERT_THAT(folds, SizeIs(4));
  const StringColumn group = task.tables.at("workloads").strings("group");
  for (const Fold& f : folds) {
    std::set<std::string> tested, trained;
    for (const std::int64_t row : f.test) tested.emplace(group[row]);
    for (const std::int64_t row : f.train) trained.emplace(group[row]);
    for (const std::string& name : tested) EXPECT_EQ(trained.count(name), 0u) << name;
    EXPECT_EQ(tested.count("g0"), tested.count("g1"));
  }
}

TEST(LeaksTest, GroupsThatDuplicatesChainTogetherKeepTheirFoldsAndLoseWhatLeaks) {
  PlannedTask task = test::small_task({40, 4, 4, false});
  task.task.split.kind = SplitKind::kLeaveOneGroupOut;
  task.task.split.column = "family";  // not among the inputs: folds tell the groups
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back("k" + std::to_string(i));
  for (int i = 0; i < 4; ++i) keys[static_cast<std::size_t>(i)] = "common";
  const auto folds = grouped_folds(task.task, task.tables, task.folds, keys);
  ASSERT_THAT(folds, SizeIs(4));
  EXPECT_EQ(leaking_rows(folds, keys), 0);
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(folds[f].test, task.folds[f].test);
    EXPECT_EQ(folds[f].train.size(), task.folds[f].train.size() - 3);
  }
}

TEST(LeaksTest, AFixedSplitLosesTheTrainingRowsThatLeak) {
  PlannedTask task = test::small_task();
  task.task.split.kind = SplitKind::kFixed;
  task.folds = {fold({0, 1, 2, 3}, {4, 5})};
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back("k" + std::to_string(i));
  keys[4] = keys[1];
  const auto folds = grouped_folds(task.task, task.tables, task.folds, keys);
  ASSERT_THAT(folds, SizeIs(1));
  EXPECT_THAT(folds[0].train, ElementsAre(0, 2, 3));
  EXPECT_THAT(folds[0].test, ElementsAre(4, 5));
}

TEST(LeaksTest, WhereAllRowsAreAlikeNoFoldsExist) {
  const PlannedTask task = test::small_task();
  EXPECT_THAT(
      grouped_folds(task.task, task.tables, task.folds, std::vector<std::string>(40, "same")),
      IsEmpty());
}

TEST(LeaksTest, ShuffledLabelsKeepValuesAndIdsButNotTheirBond) {
  PlannedTask task = test::small_task();
  const Table before = task.tables.at("targets");
  shuffle_labels(task.tables, 1);
  const Table& after = task.tables.at("targets");
  EXPECT_EQ(after.numbers("workload_id"), before.numbers("workload_id"));
  EXPECT_THAT(after.numbers("cost"), Ne(before.numbers("cost")));
  EXPECT_THAT(after.numbers("cost"), UnorderedElementsAreArray(before.numbers("cost")));
  EXPECT_EQ(after.metadata(after.index("cost"), "omen.unit"), "ms");
  PlannedTask again = test::small_task(), other = test::small_task();
  shuffle_labels(again.tables, 1);
  shuffle_labels(other.tables, 2);
  EXPECT_THAT(again.tables.at("targets").numbers("cost"), ElementsAreArray(after.numbers("cost")));
  EXPECT_THAT(other.tables.at("targets").numbers("cost"), Ne(after.numbers("cost")));
}

}  // namespace
}  // namespace omen::host
