// SPDX-License-Identifier: Apache-2.0
// The learners on plain matrices: folds, optimality, choices, nulls and persistence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <set>

#include "omen/learn/errors.hpp"
#include "omen/learn/folds.hpp"
#include "omen/learn/intervals.hpp"
#include "omen/learn/knn.hpp"
#include "omen/learn/mean.hpp"
#include "omen/learn/parallel.hpp"
#include "omen/learn/random.hpp"
#include "omen/learn/ridge.hpp"
#include "omen/learn/softmax.hpp"

namespace omen::learn {
namespace {

Matrix normal_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  return x;
}

TEST(Folds, KeepGroupsTogetherAndEven) {
  std::vector<std::int32_t> groups;
  for (int group = 0; group < 12; ++group) groups.insert(groups.end(), group < 2 ? 20 : 4, group);
  const Folds folds = make_folds(static_cast<Index>(groups.size()), groups, 4, 7);
  ASSERT_EQ(folds.count, 4);
  std::map<std::int32_t, std::set<int>> of_group;
  for (std::size_t i = 0; i < groups.size(); ++i) of_group[groups[i]].insert(folds.of_row[i]);
  for (const auto& [group, used] : of_group) EXPECT_EQ(used.size(), 1U) << group;
  for (int fold = 0; fold < 4; ++fold) {
    EXPECT_EQ(folds.held_out_rows(fold).size(), 20U);
    EXPECT_EQ(folds.training_rows(fold).size(), 60U);
  }
}

TEST(Folds, DependOnTheSeedOnly) {
  const Folds a = make_folds(50, {}, 5, 1), b = make_folds(50, {}, 5, 1),
              c = make_folds(50, {}, 5, 2);
  EXPECT_EQ(a.of_row, b.of_row);
  EXPECT_NE(a.of_row, c.of_row);
}

TEST(Folds, ShrinkWithTheGroupsAndFallBackToRows) {
  EXPECT_EQ(make_folds(10, {0, 0, 0, 0, 0, 1, 1, 1, 2, 2}, 5, 1).count, 3);
  EXPECT_EQ(make_folds(10, std::vector<std::int32_t>(10, 3), 5, 1).count, 5);
  EXPECT_EQ(make_folds(1, {}, 5, 1).count, 0);
  EXPECT_EQ(make_folds(0, {}, 5, 1).count, 0);
}

TEST(Folds, SubsetDropsEmptyFolds) {
  const Folds folds{3, {0, 1, 2, 0, 1, 2}};
  const Folds some = folds.subset({1, 2, 4});
  EXPECT_EQ(some.count, 2);
  EXPECT_THAT(some.of_row, testing::ElementsAre(0, 1, 0));
  EXPECT_EQ(folds.subset({0, 3}).count, 0);
}

TEST(Loss, IsSquaredErrorOrLogLikelihood) {
  EXPECT_DOUBLE_EQ(mean_loss((Matrix(2, 1) << 1, 4).finished(), (Vector(2) << 2, 2).finished(), 0),
                   2.5);
  const Matrix p = (Matrix(2, 2) << 0.25, 0.75, 1, 0).finished();
  EXPECT_NEAR(mean_loss(p, (Vector(2) << 1, 0).finished(), 2), -std::log(0.75) / 2, 1e-12);
  EXPECT_TRUE(std::isfinite(mean_loss(p, (Vector(2) << 1, 1).finished(), 2)));
}

TEST(Ridge, SatisfiesItsNormalEquationsInBothForms) {
  for (const Index features : {Index{5}, Index{60}}) {
    const Matrix x = normal_matrix(40, features, 3);
    const Vector y = x.col(0) * 2 + normal_matrix(40, 1, 4).col(0) + Vector::Constant(40, 7.0);
    const Matrix path = ridge_path(x, y, {0.1, 10}, {});
    for (Index i = 0; i < 2; ++i) {
      const double alpha = i == 0 ? 0.1 : 10;
      const Vector w = path.col(i).head(features);
      const Vector residual = y - x * w - Vector::Constant(40, path(features, i));
      EXPECT_NEAR(residual.sum(), 0, 1e-8);
      EXPECT_LT((x.transpose() * residual - alpha * w).cwiseAbs().maxCoeff(), 1e-8);
    }
  }
}

TEST(Ridge, WithoutFeaturesIsTheMean) {
  const Matrix path = ridge_path(Matrix(3, 0), (Vector(3) << 1, 2, 6).finished(), {1.0}, {});
  EXPECT_EQ(path.rows(), 1);
  EXPECT_DOUBLE_EQ(path(0, 0), 3);
}

TEST(Ridge, ChoosesALargePenaltyForNoiseAndASmallOneForSignal) {
  const Matrix x = normal_matrix(80, 30, 5);
  const Vector noise = normal_matrix(80, 1, 6).col(0);
  const Vector signal = x * Vector::LinSpaced(30, -1, 1) + 0.01 * noise;
  RidgeLearner learner(0);
  const auto reports = learner.fit(x, {{noise, 0}, {signal, 0}}, make_folds(80, {}, 5, 1), {});
  double alpha[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(
        std::sscanf(reports[static_cast<std::size_t>(i)].knobs.c_str(), "alpha %lf", &alpha[i]), 1);
  }
  EXPECT_GT(alpha[0], 50);
  EXPECT_LT(alpha[1], 0.5);
  EXPECT_LT(reports[1].loss, 1e-3);
}

TEST(Ridge, HeldOutPredictionsDoNotSeeTheirRow) {
  // One row with a wild target: a leak would pull its held-out answer towards it.
  const Matrix x = normal_matrix(30, 1, 8);
  Vector y = Vector::Zero(30);
  y[4] = 1000;
  RidgeLearner learner(1e-3);
  const auto report = learner.fit(x, {{y, 0}}, make_folds(30, {}, 30, 1), {}).front();
  EXPECT_LT(std::abs(report.held_out(4, 0)), 1.0);
}

TEST(Softmax, ReachesAStationaryPoint) {
  const Matrix x = normal_matrix(200, 4, 9);
  Vector codes(200);
  for (Index row = 0; row < 200; ++row) {
    codes[row] = x(row, 0) > 0.3 ? 2 : (x(row, 1) > 0 ? 1 : 0);
  }
  const double alpha = 0.5;
  const Matrix w = softmax_path(x, codes, 3, {100, alpha}, {}).back();
  Matrix p = softmax_rows((x * w.topRows(4)).rowwise() + w.row(4));
  EXPECT_NEAR((p.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
  for (Index row = 0; row < 200; ++row) p(row, static_cast<Index>(codes[row])) -= 1;
  EXPECT_LT((x.transpose() * p + alpha * w.topRows(4)).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Softmax, StaysFiniteWhenClassesSeparateOrAreMissing) {
  const Matrix x = Vector::LinSpaced(20, -1, 1);
  Vector codes(20);
  for (Index row = 0; row < 20; ++row) codes[row] = x(row, 0) > 0 ? 2 : 0;  // class 1 never occurs
  const Matrix w = softmax_path(x, codes, 3, {1e-3}, {}).back();
  EXPECT_TRUE(w.allFinite());
  const Matrix p = softmax_rows((x * w.topRows(1)).rowwise() + w.row(1));
  EXPECT_GT(p(0, 0), 0.99);
  EXPECT_LT(p.col(1).maxCoeff(), 0.05);
}

TEST(Knn, FindsNeighboursInOrderAndBreaksTiesByRow) {
  const Matrix x = (Matrix(5, 1) << 3, 1, 1, 0, 9).finished();
  Eigen::RowVectorXd query(1);
  query << 1.5;
  const Neighbours near = nearest(x, query, 3, {});
  EXPECT_THAT(near.rows, testing::ElementsAre(1, 2, 0));
  EXPECT_THAT(near.distances, testing::ElementsAre(0.5, 0.5, 1.5));
  EXPECT_THAT(nearest(x, query, 2, {false, true, true, false, false}).rows,
              testing::ElementsAre(0, 3));
}

TEST(Knn, AnswersAnExactMatchWhenWeightedByDistance) {
  const Matrix x = normal_matrix(50, 3, 10);
  const Vector y = x.col(0).array().square();
  KnnLearner learner({5, KnnOptions::Weights::kDistance, 1000});
  learner.fit(x, {{y, 0}}, make_folds(50, {}, 5, 1), {});
  EXPECT_LT((learner.predict(x, {}).front().col(0) - y).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Knn, ChoosesManyNeighboursForNoise) {
  const Matrix x = normal_matrix(300, 2, 11);
  const Vector y = normal_matrix(300, 1, 12).col(0);
  KnnLearner learner({});
  const auto report = learner.fit(x, {{y, 0}}, make_folds(300, {}, 5, 1), {}).front();
  EXPECT_THAT(report.knobs, testing::StartsWith("k 34"));
  const Vector smooth = x.col(0);
  EXPECT_THAT(learner.fit(x, {{smooth, 0}}, make_folds(300, {}, 5, 1), {}).front().knobs,
              testing::Not(testing::StartsWith("k 34")));
}

TEST(Knn, KeepsAtMostTheAskedNumberOfRows) {
  const Matrix x = normal_matrix(100, 2, 13);
  KnnLearner learner({1, KnnOptions::Weights::kUniform, 10});
  const auto report = learner.fit(x, {{x.col(0), 0}}, make_folds(100, {}, 5, 1), {}).front();
  MemoryState state;
  learner.save(state);
  EXPECT_EQ(state.matrix("knn.x").rows(), 10);
  Index held_out = 0;
  for (Index row = 0; row < 100; ++row) held_out += std::isfinite(report.held_out(row, 0)) ? 1 : 0;
  EXPECT_EQ(held_out, 10);
}

TEST(Knn, ThreadsDoNotChangeTheAnswer) {
  const Matrix x = normal_matrix(400, 5, 14);
  const Vector y = x.rowwise().sum();
  Context four;
  four.threads = 4;
  KnnLearner a({}), b({});
  const Folds folds = make_folds(400, {}, 5, 1);
  EXPECT_EQ(a.fit(x, {{y, 0}}, folds, {}).front().held_out,
            b.fit(x, {{y, 0}}, folds, four).front().held_out);
  EXPECT_EQ(a.predict(x, {}).front(), b.predict(x, four).front());
}

/// Every learner obeys the same rules.
class AnyLearner : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<Learner> make() {
    const std::string name = GetParam();
    if (name == "mean") return std::make_unique<MeanLearner>();
    if (name == "ridge") return std::make_unique<RidgeLearner>(0);
    return std::make_unique<KnnLearner>(KnnOptions{});
  }
  static std::vector<Head> heads(const Matrix& x) {
    Vector number = x.col(0) * 3 - x.col(1), code(x.rows());
    for (Index row = 0; row < x.rows(); ++row) {
      code[row] = x(row, 0) > 0.5 ? 2 : (x(row, 1) > 0 ? 1 : 0);
    }
    number[3] = std::nan("");
    code[5] = std::nan("");
    return {{number, 0}, {code, 3}};
  }
};

TEST_P(AnyLearner, LearnsNumbersAndClassesTogetherAndSkipsUnknowns) {
  const Matrix x = normal_matrix(150, 3, 20);
  const auto learner = make();
  const auto reports = learner->fit(x, heads(x), make_folds(150, {}, 5, 1), {});
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_TRUE(std::isnan(reports[0].held_out(3, 0)));
  EXPECT_TRUE(std::isnan(reports[1].held_out(5, 0)));
  EXPECT_TRUE(std::isfinite(reports[0].loss));
  const auto predictions = learner->predict(x, {});
  ASSERT_EQ(predictions.size(), 2U);
  EXPECT_TRUE(predictions[0].allFinite());
  EXPECT_EQ(predictions[1].cols(), 3);
  EXPECT_LT((predictions[1].rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_GT(predictions[1].minCoeff(), 0);
}

TEST_P(AnyLearner, ReportedLossIsThatOfTheHeldOutPredictions) {
  const Matrix x = normal_matrix(100, 3, 21);
  const Vector y = x.col(0);
  const auto report = make()->fit(x, {{y, 0}}, make_folds(100, {}, 5, 1), {}).front();
  EXPECT_NEAR(report.loss, mean_loss(report.held_out, y, 0), 1e-12);
}

TEST_P(AnyLearner, WorksWithoutFolds) {
  const Matrix x = normal_matrix(1, 2, 22);
  const auto learner = make();
  const auto report = learner->fit(x, {{Vector::Constant(1, 4.0), 0}}, {}, {}).front();
  EXPECT_TRUE(std::isnan(report.loss));
  EXPECT_NEAR(learner->predict(x, {}).front()(0, 0), 4, 1e-9);
}

TEST_P(AnyLearner, SaveAndLoadGiveTheSameAnswers) {
  const Matrix x = normal_matrix(60, 3, 23);
  const auto learner = make(), loaded = make();
  learner->fit(x, heads(x), make_folds(60, {}, 5, 1), {});
  MemoryState state;
  learner->save(state);
  loaded->load(state, {3, {0, 3}});
  const auto a = learner->predict(x, {}), b = loaded->predict(x, {});
  EXPECT_EQ(a[0], b[0]);
  EXPECT_EQ(a[1], b[1]);
}

TEST_P(AnyLearner, RefusesAStateOfAnotherShape) {
  const Matrix x = normal_matrix(60, 3, 24);
  const auto learner = make();
  learner->fit(x, heads(x), make_folds(60, {}, 5, 1), {});
  MemoryState state;
  learner->save(state);
  EXPECT_THROW(make()->load(state, {3, {0, 2}}), Error);
  EXPECT_THROW(make()->load(state, {3, {0, 3, 0}}), Error);
  if (std::string(GetParam()) == "mean") return;  // it has no features
  EXPECT_THROW(make()->load(state, {4, {0, 3}}), Error);
}

TEST_P(AnyLearner, StopsWhenTheStepThrows) {
  const Matrix x = normal_matrix(200, 3, 25);
  Context context;
  context.step = [](double, const char*) { throw Error(OMEN_CANCELLED, "cancelled"); };
  EXPECT_THROW(make()->fit(x, heads(x), make_folds(200, {}, 5, 1), context), Error);
}

INSTANTIATE_TEST_SUITE_P(All, AnyLearner, testing::Values("mean", "ridge", "knn"));

TEST(Intervals, CoverNewRowsAtTheirLevel) {
  Random random(31);
  Vector y(400);
  for (double& value : y) value = random.normal();
  const ResidualQuantiles quantiles(Vector::Zero(400), y);
  for (const double level : {0.5, 0.9}) {
    int covered = 0;
    for (int i = 0; i < 4000; ++i)
      covered += std::abs(random.normal()) <= quantiles.half_width(level) ? 1 : 0;
    EXPECT_NEAR(covered / 4000.0, level, 0.05);
  }
}

TEST(Intervals, TakeTheConformalRank) {
  const Vector y = Vector::LinSpaced(9, 1, 9);
  const ResidualQuantiles quantiles(Vector::Zero(9), y);
  EXPECT_EQ(quantiles.half_width(0.5), 5);   // ceil(10 * 0.5)
  EXPECT_EQ(quantiles.half_width(0.9), 9);   // ceil(10 * 0.9)
  EXPECT_EQ(quantiles.half_width(0.99), 9);  // too few residuals: the largest
  EXPECT_TRUE(std::isnan(ResidualQuantiles().half_width(0.9)));
}

TEST(Parallel, RunsEveryJobOnceAndPassesOnTheFirstFailure) {
  std::vector<std::atomic<int>> runs(100);
  for_each_job(100, 4, [&](std::size_t i) { ++runs[i]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  EXPECT_THROW(for_each_job(10, 3,
                            [](std::size_t i) {
                              if (i == 4) throw Error(OMEN_IO, "x");
                            }),
               Error);
}

}  // namespace
}  // namespace omen::learn
