// SPDX-License-Identifier: Apache-2.0
// The decision tree against scikit-learn 1.9, and its state.
#include "omen/learn/decision_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/error.hpp>

#include "waves.hpp"

namespace omen::learn {
namespace {

TEST(DecisionTree, SeparatesClassesAndNumbers) {
  Matrix x(40, 2);
  Vector classes(40), numbers(40);
  for (Index i = 0; i < 40; ++i) {
    x.row(i) << static_cast<double>(i), static_cast<double>(i % 3);
    classes[i] = i < 10 ? 0 : i < 25 ? 1 : 2;
    numbers[i] = i < 20 ? 1 : 5;
  }
  DecisionTree tree;
  tree.fit(x, classes, 3, {5, 5});
  for (Index i = 0; i < 40; ++i)
    EXPECT_EQ(tree.predict(x.row(i).transpose())[static_cast<Index>(classes[i])], 1) << i;
  EXPECT_EQ(tree.leaves(), 3u);
  tree.fit(x, numbers, 0, {5, 5});
  EXPECT_EQ(tree.predict(x.row(3).transpose())[0], 1);
  EXPECT_EQ(tree.predict(x.row(30).transpose())[0], 5);
  tree.fit(x, classes, 3, {5, 30});
  EXPECT_EQ(tree.leaves(), 1u) << "no cut leaves 30 rows on both sides";
}

TEST(DecisionTree, CutsWhereVarianceFallsMost) {
  const Matrix x = waves(80, 3), asked = waves(4, 3, 0.9);
  const Vector y = ((x.col(0).array() * 3).floor() + x.col(1).array()).matrix();
  DecisionTree tree;
  tree.fit(x, y, 0, {3, 5});
  EXPECT_EQ(tree.leaves(), 8U);
  const double expected[] = {2.3357128467153965, 1.1459865241828366, -1.870298001027137,
                             -2.371747164927878};
  for (Index i = 0; i < 4; ++i)
    EXPECT_NEAR(tree.predict(asked.row(i).transpose())[0], expected[i], 1e-12);
  double squares = 0;
  for (Index i = 0; i < 80; ++i)
    squares += std::pow(tree.predict(x.row(i).transpose())[0] - y[i], 2);
  EXPECT_NEAR(squares / 80, 0.16395624903218126, 1e-12);
}

TEST(DecisionTree, ComesBackFromItsState) {
  const Matrix x = waves(80, 3);
  DecisionTree tree, again;
  tree.fit(x, x.col(0), 0, {4, 5});
  MemoryState state;
  tree.save(state, "tree");
  again.load(state, "tree", 3, 0);
  for (Index i = 0; i < 80; ++i)
    EXPECT_EQ(tree.predict(x.row(i).transpose()), again.predict(x.row(i).transpose()));
  EXPECT_THROW(again.load(state, "tree", 0, 0), Error);
  EXPECT_THROW(again.load(state, "tree", 3, 5), Error);
}

}  // namespace
}  // namespace omen::learn
