// SPDX-License-Identifier: Apache-2.0
// Arithmetic of polynomials, their rows, and what can be proven of their signs.
#include "opencl/polynomial.hpp"

#include <gtest/gtest.h>

namespace omen::loadbalance {
namespace {

const Polynomial kId = Polynomial::of(0), kOther = Polynomial::of(1), kLength = Polynomial::of(2),
                 kTurn = Polynomial::of(4);

TEST(Polynomials, AddAndMultiply) {
  EXPECT_EQ((kId + 1) * (kId - 1), kId * kId - 1);
  EXPECT_TRUE((kId - kId).is_constant());
  EXPECT_EQ((kId * kLength + 3).with(0, kId + 1), kId * kLength + kLength + 3);
  EXPECT_EQ((kId * 6 + 3).common_factor(), 6);
  EXPECT_EQ((kId * 6 + 3).divided_by(3), kId * 2 + 1);
  EXPECT_FALSE((kId * 6 + 3).divided_by(2));
}

TEST(Polynomials, ThatLeaveTheirNumbersCountForNothing) {
  Polynomial large(std::int64_t{1} << 51);
  EXPECT_TRUE(large.valid());
  EXPECT_FALSE((large * 2).valid());
  EXPECT_FALSE((large * large).valid());
}

TEST(Polynomials, FallIntoRowsAndColumns) {
  const Rows by_atom = split_rows((kId + 1) * kLength + kTurn - 1, 2);
  EXPECT_EQ(by_atom.row, kId + 1);
  EXPECT_EQ(by_atom.column, kTurn - 1);
  const Rows by_number = split_rows(kId * 16 + kTurn + 33, std::int64_t{16});
  EXPECT_EQ(by_number.row, kId + 2);
  EXPECT_EQ(by_number.column, kTurn + 1);
}

TEST(Polynomials, AreNotNegativeBySignsEndsAndFacts) {
  Knowledge known;
  known.natural = {{0, true}, {1, true}, {2, false}, {4, true}};
  known.most[4] = kLength - 2;
  EXPECT_TRUE(known.proves(kId * 3 + 2));
  EXPECT_FALSE(known.proves(kId - 1));
  EXPECT_FALSE(known.proves(kLength));
  EXPECT_TRUE(known.proves(kLength - 2 - kTurn));  // the last turn is the worst
  EXPECT_FALSE(known.proves(kLength - 3 - kTurn));
  known.not_negative = {kLength - 1 - kId, kId - kOther - 1};
  EXPECT_TRUE(known.proves(kLength - kOther - 2));  // both facts
  EXPECT_FALSE(known.proves(kLength - kOther - 3));
}

TEST(Polynomials, WithTheLargestOfSeveralHaveACaseForEach) {
  Knowledge known;
  known.largest_of[4] = {Polynomial(1), kLength};
  const std::vector<Polynomial> cases = known.cases(kLength - kTurn);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0], kLength - 1);
  EXPECT_EQ(cases[1], Polynomial(0));
  EXPECT_EQ(known.cases(kTurn).size(), 1u);  // it only helps
}

}  // namespace
}  // namespace omen::loadbalance
