// SPDX-License-Identifier: Apache-2.0
// The answer of a scorer: its columns follow omen/tables.h, and ranks follow from the order.
#include "omen/score_rows.hpp"

#include <gmock/gmock.h>

namespace omen {
namespace {

using ::testing::ElementsAre;

TEST(ScoreRows, RanksCountForEachWorkload) {
  ScoreRows rows;
  rows.add(7, 2, -1.5, true, "fast");
  rows.add(9, 0, -1, true, "only one");
  rows.add(7, 0, -2, false, "does not fit");
  rows.add(7, 1, -3, true, "slow");
  const Table table = rows.finish();
  EXPECT_THAT(table.numbers(OMEN_COLUMN_WORKLOAD_ID), ElementsAre(7, 9, 7, 7));
  EXPECT_THAT(table.numbers(OMEN_COLUMN_CANDIDATE_ID), ElementsAre(2, 0, 0, 1));
  EXPECT_THAT(table.numbers(OMEN_COLUMN_RANK), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(table.numbers(OMEN_COLUMN_SCORE), ElementsAre(-1.5, -1, -2, -3));
  EXPECT_THAT(table.numbers(OMEN_COLUMN_FEASIBLE), ElementsAre(1, 1, 0, 1));
  EXPECT_EQ(table.strings(OMEN_COLUMN_REASON)[2], "does not fit");
  EXPECT_EQ(table.type(*table.find(OMEN_COLUMN_RANK)), Type::kInt32);
}

TEST(ScoreRows, FinishLeavesNothingBehind) {
  ScoreRows rows;
  rows.add(1, 0, 0, true, "");
  EXPECT_EQ(rows.finish().rows(), 1);
  rows.add(1, 5, 0, true, "");
  const Table table = rows.finish();
  EXPECT_THAT(table.numbers(OMEN_COLUMN_RANK), ElementsAre(1));
}

}  // namespace
}  // namespace omen
