// SPDX-License-Identifier: Apache-2.0
// The table of operations as it was published, and unknown kinds.
#include "grouping/op_frequencies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omen/testing/errors.hpp"

namespace omen::driple {
namespace {

using test::error_of;
using test::IsError;
using ::testing::HasSubstr;

TEST(OpFrequenciesTest, ReadsBothPublishedForms) {
  const OpFrequencies bare = OpFrequencies::parse(
      "\xef\xbb\xbf"
      "Add,0.25\r\nConst,0.75\r\n",
      "t");
  EXPECT_DOUBLE_EQ(bare.of("Add"), 0.25);
  const OpFrequencies headed = OpFrequencies::parse("Operation,Frequency\nPack,1e-3\n", "t");
  EXPECT_EQ(headed.size(), 1U);
  EXPECT_DOUBLE_EQ(headed.of("Pack"), 1e-3);
}

TEST(OpFrequenciesTest, UnknownKindsCountLikeTheRarest) {
  const OpFrequencies table({{"Conv2D", 30}, {"Add", 60}, {"Pad", 10}});
  EXPECT_DOUBLE_EQ(table.of("Conv2D"), 0.3);
  EXPECT_FALSE(table.knows("FlashAttention"));
  EXPECT_DOUBLE_EQ(table.of("FlashAttention"), 0.1);
  EXPECT_DOUBLE_EQ(OpFrequencies().of("Add"), 0);
}

TEST(OpFrequenciesTest, WritesWhatItReads) {
  const OpFrequencies table({{"Conv2D", 1}, {"Add", 2}});
  const OpFrequencies again = OpFrequencies::parse(table.csv(), "t");
  EXPECT_EQ(again.csv(), table.csv());
  EXPECT_DOUBLE_EQ(again.of("Conv2D"), 1.0 / 3);
}

TEST(OpFrequenciesTest, NamesTheLineThatIsWrong) {
  EXPECT_THAT(error_of([] { OpFrequencies::parse("Add,0.5\nConst\n", "ops.csv"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("ops.csv line 2"), HasSubstr("Conv2D,0.0123")));
  EXPECT_THAT(error_of([] { OpFrequencies::parse("Add,nan\n", "ops.csv"); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("line 1"), ::testing::_));
}

}  // namespace
}  // namespace omen::driple
