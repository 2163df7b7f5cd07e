// SPDX-License-Identifier: Apache-2.0
// The Gaussian process against figures that NumPy computed from the same rows.
#include "omen/learn/gaussian_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/error.hpp>

#include "waves.hpp"

namespace omen::learn {
namespace {

Kernel example_kernel() {
  return (1.5 * Kernel::matern("u", 0.7) + 0.5 * Kernel::linear("v") + Kernel::constant(0.3)) *
         Kernel::matern("v", 2.0, Matern::kFiveHalves);
}

Blocks example_rows(Index rows, double phase_u, double phase_v) {
  return {{"u", waves(rows, 2, phase_u)}, {"v", waves(rows, 3, phase_v)}};
}

GaussianProcess fitted(Opinions* others = nullptr) {
  GaussianProcess process(example_kernel(), 0.5);
  Vector noise(15);
  for (Index i = 0; i < 15; ++i) noise[i] = 0.1 + 0.02 * static_cast<double>(i);
  const Opinions said = process.fit(example_rows(15, 0, 1), waves(15, 1, 0.2), noise);
  if (others) *others = said;
  return process;
}

// Rows are kept in single precision, so answers agree to about seven digits.
constexpr double kClose = 1e-6;

TEST(GaussianProcess, AnswersAsTheEquationsSay) {
  const Opinions said = fitted().predict(example_rows(3, 0.5, 1.7));
  const double mean[] = {0.6158660011191395, 0.8223845316843927, -0.1837610332544338};
  const double variance[] = {0.5040057639465225, 0.22728486744276144, 0.5449364350912567};
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(said.mean(i, 0), mean[i], kClose);
    EXPECT_NEAR(said.variance[i], variance[i], kClose);
  }
}

TEST(GaussianProcess, SaysOfEachRowWhatTheOthersWould) {
  Opinions others;
  const GaussianProcess process = fitted(&others);
  EXPECT_NEAR(others.mean(4, 0), -0.657457558888417, kClose);
  EXPECT_NEAR(others.variance[4], 0.4789514598486584, kClose);
  EXPECT_NEAR(process.log_likelihood(), -16.127829507145766, 1e-5);
}

TEST(GaussianProcess, ComesBackFromItsState) {
  const GaussianProcess process = fitted();
  MemoryState state;
  process.save(state, "p");
  GaussianProcess again(example_kernel(), 0.5);
  again.load(state, "p", {{"u", 2}, {"v", 3}}, 1);
  const Blocks asked = example_rows(5, 0.1, 0.4);
  EXPECT_EQ(process.predict(asked).mean, again.predict(asked).mean);
  EXPECT_EQ(process.predict(asked).variance, again.predict(asked).variance);
  EXPECT_THROW(again.load(state, "p", {{"u", 2}, {"v", 4}}, 1), Error);
  EXPECT_THROW(again.load(state, "p", {{"u", 2}, {"v", 3}}, 2), Error);
}

TEST(Kernel, MaternsOfThreeSmoothnesses) {
  const Blocks a = {{"x", Matrix::Zero(1, 1)}}, b = {{"x", Matrix::Constant(1, 1, 0.8)}};
  const auto at = [&](Matern smoothness) {
    return Kernel::matern("x", 0.7, smoothness).between(a, b)(0, 0);
  };
  EXPECT_NEAR(at(Matern::kOneHalf), 0.3189065573239704, 1e-15);
  EXPECT_NEAR(at(Matern::kThreeHalves), 0.41158668663842096, 1e-15);
  EXPECT_NEAR(at(Matern::kFiveHalves), 0.445135753346065, 1e-15);
}

TEST(Kernel, BlocksWithoutColumnsAndWithoutNames) {
  const Blocks none = {{"x", Matrix(2, 0)}};
  EXPECT_EQ(Kernel::matern("x", 1).between(none, none), Matrix::Ones(2, 2));
  EXPECT_EQ(Kernel::linear("x").between(none, none), Matrix::Zero(2, 2));
  EXPECT_THROW(Kernel::linear("y").between(none, none), Error);
  EXPECT_THROW(Kernel::constant(1).between({}, none), Error);
  EXPECT_THROW(Kernel::matern("x", 0), Error);
}

TEST(Kernel, OwnIsTheDiagonal) {
  const Blocks rows = example_rows(6, 0.3, 0.9);
  const Matrix all = example_kernel().between(rows, rows);
  EXPECT_TRUE(example_kernel().own(rows).isApprox(all.diagonal(), 1e-12));
}

}  // namespace
}  // namespace omen::learn
