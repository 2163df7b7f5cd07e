// SPDX-License-Identifier: Apache-2.0
// Boosted trees: accuracy on known shapes, the search, threads, seeds, cancellation, persistence.
#include "omen/boosting/gbt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "omen/learn/errors.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

Matrix uniform_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) {
    x.data()[i] = random.uniform();
  }
  return x;
}

/// A search that is short enough for a test.
GbtOptions quick() {
  GbtOptions options;
  options.max_rounds = 60;
  return options;
}

Vector step_target(const Matrix& x) {
  return (x.col(0).array() > 0.5).select(10.0, Vector::Zero(x.rows())) + x.col(1);
}

Vector three_codes(const Matrix& x) {
  Vector codes(x.rows());
  for (Index row = 0; row < x.rows(); ++row) {
    codes[row] = x(row, 0) > 0.5 ? 2 : (x(row, 1) > 0.5 ? 1 : 0);
  }
  return codes;
}

TEST(Gbt, LearnsAStepThatALineCannot) {
  const Matrix x = uniform_matrix(400, 3, 1), fresh = uniform_matrix(200, 3, 2);
  GbtLearner learner(quick());
  const auto report = learner.fit(x, {{step_target(x), 0}}, make_folds(400, {}, 5, 1), {}).front();
  EXPECT_LT(std::sqrt(report.loss), 0.5);
  EXPECT_THAT(report.knobs, testing::ContainsRegex("rounds [0-9]+, depth [2468], eta 0"));
  const Vector error = learner.predict(fresh, {}).front().col(0) - step_target(fresh);
  // The best line errs by 2.5; a tree only where the step fell between two training rows.
  EXPECT_LT(std::sqrt(error.squaredNorm() / 200), 1.25);
}

TEST(Gbt, UsesTheGivenKnobs) {
  const Matrix x = uniform_matrix(100, 2, 3);
  GbtOptions options;
  options.rounds = 17;
  options.depth = 3;
  options.eta = 0.25;
  GbtLearner learner(options);
  const auto report = learner.fit(x, {{step_target(x), 0}}, make_folds(100, {}, 5, 1), {}).front();
  EXPECT_EQ(report.knobs, "rounds 17, depth 3, eta 0.25");
  EXPECT_NEAR(report.loss, mean_loss(report.held_out, step_target(x), 0), 1e-4 * report.loss);
}

TEST(Gbt, GivesProbabilitiesForTwoAndThreeClasses) {
  const Matrix x = uniform_matrix(300, 2, 4);
  const Vector two = (x.col(0).array() > 0.3).select(Vector::Ones(300), Vector::Zero(300));
  GbtLearner learner(quick());
  learner.fit(x, {{two, 2}, {three_codes(x), 3}}, make_folds(300, {}, 5, 1), {});
  const auto p = learner.predict(x, {});
  ASSERT_EQ(p[0].cols(), 2);
  ASSERT_EQ(p[1].cols(), 3);
  EXPECT_LT((p[0].rowwise().sum().array() - 1).abs().maxCoeff(), 1e-6);
  EXPECT_LT((p[1].rowwise().sum().array() - 1).abs().maxCoeff(), 1e-6);
  EXPECT_LT(mean_loss(p[0], two, 2), 0.1);
  EXPECT_LT(mean_loss(p[1], three_codes(x), 3), 0.1);
}

TEST(Gbt, MissingValuesAndUnknownTargetsAreFine) {
  Matrix x = uniform_matrix(200, 2, 5);
  Vector y = step_target(x);
  for (Index row = 0; row < 200; row += 7) x(row, 1) = std::nan("");
  y[11] = std::nan("");
  x(3, 1) = 1e300;
  GbtLearner learner(quick());
  const auto report = learner.fit(x, {{y, 0}}, make_folds(200, {}, 5, 1), {}).front();
  EXPECT_TRUE(std::isnan(report.held_out(11, 0)));
  EXPECT_TRUE(learner.predict(x, {}).front().allFinite());
}

TEST(Gbt, ThreadsAndCallsDoNotChangeTheModel) {
  const Matrix x = uniform_matrix(200, 4, 6);
  GbtOptions options;
  options.subsample = 0.7;
  options.max_rounds = 60;
  Context two;
  two.threads = 2;
  two.seed = 9;
  Context one = two;
  one.threads = 1;
  GbtLearner a(options), b(options), c(options);
  const Folds folds = make_folds(200, {}, 5, 1);
  a.fit(x, {{step_target(x), 0}}, folds, one);
  b.fit(x, {{step_target(x), 0}}, folds, two);
  EXPECT_EQ(a.predict(x, {}).front(), b.predict(x, two).front());
  one.seed = 10;
  c.fit(x, {{step_target(x), 0}}, folds, one);
  EXPECT_NE(a.predict(x, {}).front(), c.predict(x, {}).front());
}

TEST(Gbt, PredictsOnAnotherThreadThanItWasFittedOn) {
  const Matrix x = uniform_matrix(100, 2, 7);
  GbtLearner learner(quick());
  std::thread([&] { learner.fit(x, {{step_target(x), 0}}, make_folds(100, {}, 5, 1), {}); }).join();
  const Matrix here = learner.predict(x, {}).front();
  Matrix there;
  std::thread([&] { there = learner.predict(x, {}).front(); }).join();
  EXPECT_EQ(here, there);
}

TEST(Gbt, LargePredictionsEqualSmallOnes) {
  const Matrix x = uniform_matrix(100, 2, 8), many = uniform_matrix(20000, 2, 9);
  GbtLearner learner(quick());
  learner.fit(x, {{step_target(x), 0}}, make_folds(100, {}, 5, 1), {});
  const Matrix all = learner.predict(many, {}).front();
  for (const Index row : {Index{0}, Index{8191}, Index{8192}, Index{19999}}) {
    EXPECT_EQ(learner.predict(many.row(row), {}).front()(0, 0), all(row, 0));
  }
  EXPECT_EQ(learner.predict(Matrix(0, 2), {}).front().rows(), 0);
}

TEST(Gbt, StopsWithinASecondWhenCancelled) {
  const Matrix x = uniform_matrix(20000, 20, 10);
  GbtOptions options;
  options.rounds = 100000;
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    return std::chrono::steady_clock::now() - start > std::chrono::seconds(1);
  };
  Context context;
  context.threads = 2;
  context.cancelled = late;
  context.step = [&](double, const char*) {
    if (late()) throw Error(OMEN_CANCELLED, "cancelled");
  };
  GbtLearner learner(options);
  EXPECT_THROW(learner.fit(x, {{step_target(x), 0}}, make_folds(20000, {}, 5, 1), context), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(Gbt, WorksWithoutFoldsFeaturesOrSpread) {
  GbtLearner learner(quick());
  const Matrix one = Matrix::Ones(1, 2);
  EXPECT_TRUE(std::isnan(learner.fit(one, {{Vector::Constant(1, 4.0), 0}}, {}, {}).front().loss));
  EXPECT_NEAR(learner.predict(one, {}).front()(0, 0), 4, 1e-6);
  const Matrix none(20, 0);
  learner.fit(none, {{Vector::LinSpaced(20, 0, 1), 0}}, make_folds(20, {}, 5, 1), {});
  EXPECT_NEAR(learner.predict(none, {}).front()(0, 0), 0.5, 1e-3);
}

TEST(Gbt, SaveAndLoadGiveTheSameAnswers) {
  const Matrix x = uniform_matrix(150, 2, 11);
  GbtLearner learner(quick()), loaded(quick());
  learner.fit(x, {{step_target(x), 0}, {three_codes(x), 3}}, make_folds(150, {}, 5, 1), {});
  MemoryState state;
  learner.save(state);
  loaded.load(state, {2, {0, 3}});
  EXPECT_EQ(learner.predict(x, {})[0], loaded.predict(x, {})[0]);
  EXPECT_EQ(learner.predict(x, {})[1], loaded.predict(x, {})[1]);
}

TEST(Gbt, DamagedModelsAreRefused) {
  const Matrix x = uniform_matrix(50, 2, 12);
  GbtLearner learner(quick());
  learner.fit(x, {{step_target(x), 0}}, make_folds(50, {}, 5, 1), {});
  MemoryState state;
  learner.save(state);
  EXPECT_THROW(GbtLearner({}).load(state, {3, {0}}), Error);
  MemoryState bad = state;
  bad.put_bytes("gbt.0.ubj", state.bytes("gbt.0.ubj").substr(0, 100));
  EXPECT_THROW(GbtLearner({}).load(bad, {2, {0}}), Error);
  std::string flipped = state.bytes("gbt.0.ubj");
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  bad.put_bytes("gbt.0.ubj", flipped);
  EXPECT_THROW(GbtLearner({}).load(bad, {2, {0}}), Error);
  bad.put_bytes("gbt.0.ubj", "");
  EXPECT_THROW(GbtLearner({}).load(bad, {2, {0}}), Error);
  bad.put_bytes("gbt.0.ubj", "not a model at all");
  EXPECT_THROW(GbtLearner({}).load(bad, {2, {0}}), Error);
}

}  // namespace
}  // namespace omen::learn
