// SPDX-License-Identifier: Apache-2.0
// Boosted trees of an installed Omen learn a step.
#include <gtest/gtest.h>

#include <omen/boosting/gbt.hpp>

namespace {

using namespace omen::learn;

TEST(StepCostTest, TreesFindTheStep) {
  Matrix x(40, 1);
  Vector y(40);
  for (Index i = 0; i < 40; ++i) {
    x(i, 0) = static_cast<double>(i);
    y[i] = i < 20 ? 1 : 5;
  }
  GbtOptions options;
  options.rounds = 40;
  options.depth = 2;
  options.eta = 0.3;
  GbtLearner trees(options);
  trees.fit(x, {{y, 0}}, make_folds(40, {}, 4, 1), {});
  const Matrix found = trees.predict(x, {}).front();
  EXPECT_NEAR(found(5, 0), 1, 0.1);
  EXPECT_NEAR(found(35, 0), 5, 0.1);
}

}  // namespace
