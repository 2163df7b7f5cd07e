// SPDX-License-Identifier: Apache-2.0
// Offers, prices, and the original scores worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocate/legacy_score.hpp"
#include "allocate/offers.hpp"
#include "omen/testing/errors.hpp"

namespace omen::driple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Offers, HaveNumbersAndPrices) {
  const std::vector<Offer> offers = parse_offers("a100-80:8, h100");
  ASSERT_EQ(offers.size(), 2U);
  EXPECT_EQ(offers[0].gpu, "a100-80");
  EXPECT_EQ(offers[0].most, 8);
  EXPECT_EQ(offers[1].most, 1);
  EXPECT_EQ(parse_prices("a100=2.5,h100=4").at("h100"), 4);
  for (const char* wrong : {"", "a100:0", "a100:x", "a100:1.5", "a100:99999"})
    EXPECT_THAT(test::error_of([&] { parse_offers(wrong); }),
                test::IsError(OMEN_INVALID_ARGUMENT, HasSubstr(""), HasSubstr("")))
        << wrong;
  EXPECT_THAT(test::error_of([] { parse_prices("a100=free"); }),
              test::IsError(OMEN_INVALID_ARGUMENT, HasSubstr("a100=free")));
}

TEST(Offers, SequencesAreCutAndImagesRepeated) {
  opgraph::Job images, sequences;
  sequences.facts.tokens = 4096;
  EXPECT_EQ(splits_of(images, 8).size(), 4U);
  EXPECT_EQ(splits_of(sequences, 8).size(), 10U);
  for (const Split& split : splits_of(sequences, 16)) EXPECT_LE(split.tensor, 8);
  EXPECT_EQ(offer_name("h100", {2, 1, 4}), "h100 x8 (tensor 2, data 4)");
  EXPECT_EQ(offer_name("h100", {}), "h100");
}

constexpr LegacyVector kSlow = {0.5, 0.5, 0.25, 3, 0.8, 0.2, 0.4, 3, 1, 0, 0, 3, 0, 1, 0.5, 3};
constexpr LegacyVector kFast = {0.5, 0.5, 0.5, 1, 0.8, 0.2, 0.8, 1, 1, 0, 1, 1, 0.5, 0.5, 0.5, 1};

TEST(Legacy, ScoresAreThoseWorkedByHand) {
  EXPECT_DOUBLE_EQ(legacy_efficiency(kSlow), 0.5 + 0.5 + 0 + 0);
  EXPECT_DOUBLE_EQ(legacy_efficiency(kFast), 4);
  EXPECT_DOUBLE_EQ(legacy_efficiency(kFast, {1, 0, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(legacy_time(kSlow), 12);
  EXPECT_DOUBLE_EQ(legacy_time(kFast), 4);
}

TEST(Legacy, TheOriginalSumNeverClearedMakesTheFirstGpuWin) {
  EXPECT_THAT(legacy_running_times({kSlow, kFast}), ElementsAre(12, 16));
}

}  // namespace
}  // namespace omen::driple
