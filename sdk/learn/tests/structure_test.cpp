// SPDX-License-Identifier: Apache-2.0
// Clusters, components and non-negative weights against scikit-learn 1.9 and SciPy 1.17.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>

#include "omen/learn/kmeans.hpp"
#include "omen/learn/nnls.hpp"
#include "omen/learn/pca.hpp"
#include "omen/learn/scaler.hpp"
#include "waves.hpp"

namespace omen::learn {
namespace {

using testing::ElementsAre;

std::vector<Index> sizes_of(const KMeans& clusters) {
  std::vector<Index> sizes(static_cast<std::size_t>(clusters.centres.rows()), 0);
  for (const Index own : clusters.of_row) ++sizes[static_cast<std::size_t>(own)];
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

KMeans best_of_many(int count) {
  KMeansOptions options;
  options.clusters = count;
  options.restarts = 2000;  // one start in a hundred finds the best seven
  options.seed = 3;
  return kmeans(waves(60, 3), options);
}

TEST(KMeans, FindsTheBestClusters) {
  const KMeans two = best_of_many(2), four = best_of_many(4), seven = best_of_many(7);
  EXPECT_NEAR(two.inertia, 64.68859199061683, 1e-9);
  EXPECT_NEAR(four.inertia, 36.344634184219885, 1e-9);
  EXPECT_NEAR(seven.inertia, 15.687762894643551, 1e-9);
  EXPECT_THAT(sizes_of(two), ElementsAre(27, 33));
  EXPECT_THAT(sizes_of(four), ElementsAre(10, 12, 19, 19));
}

TEST(KMeans, DependsOnTheSeedAndNotOnThreads) {
  const Matrix x = waves(200, 4);
  KMeansOptions options;
  options.restarts = 5;
  const KMeans alone = kmeans(x, options);
  options.threads = 3;
  const KMeans together = kmeans(x, options);
  EXPECT_EQ(alone.of_row, together.of_row);
  EXPECT_EQ(alone.centres, together.centres);
  EXPECT_EQ(alone.assign(x), alone.of_row);
}

TEST(KMeans, GoesOnFromGivenCentresWhereverTheRowsLie) {
  const Matrix x = waves(10001, 3);  // more rows than one part has
  KMeansOptions options;
  options.clusters = 21;  // more than fit side by side
  options.start = x.topRows(21);
  options.threads = 2;
  const KMeans near = kmeans(x, options);
  options.threads = 1;
  EXPECT_EQ(kmeans(x, options).centres, near.centres);
  for (Index row = 0; row < x.rows(); ++row) {
    Index nearest = 0;
    (near.centres.rowwise() - x.row(row)).rowwise().squaredNorm().minCoeff(&nearest);
    EXPECT_EQ(near.of_row[static_cast<std::size_t>(row)], nearest);
  }
  const Matrix far = x.array() + 1e7;
  options.start = far.topRows(21);
  EXPECT_NEAR(kmeans(far, options).inertia, near.inertia, 1e-3 * near.inertia);
  options.start = x.topRows(20);
  EXPECT_THROW(kmeans(x, options), Error);
}

TEST(KMeans, ManyEqualRowsAndTooFewRows) {
  KMeansOptions options;
  options.clusters = 3;
  EXPECT_EQ(kmeans(Matrix::Ones(5, 2), options).inertia, 0);
  EXPECT_THROW(kmeans(Matrix::Ones(2, 2), options), Error);
  EXPECT_THROW(kmeans(Matrix::Constant(5, 2, kUnknown), options), Error);
}

TEST(Scaler, CentresAndScalesWhatIsKnown) {
  Matrix x(4, 3);
  x << 1, 5, kUnknown, 3, 5, 2, kUnknown, 5, 4, 5, 5, kUnknown;
  Scaler scaler;
  scaler.fit(x);
  EXPECT_TRUE(scaler.means().isApprox(Vector{{3, 5, 3}}));
  EXPECT_TRUE(scaler.deviations().isApprox(Vector{{std::sqrt(8.0 / 3), 1, 1}}));
  const Matrix scaled = scaler.apply(x);
  EXPECT_EQ(scaled(2, 0), 0);
  EXPECT_EQ(scaled(0, 1), 0);
  EXPECT_DOUBLE_EQ(scaled(3, 0), 2 / std::sqrt(8.0 / 3));
  EXPECT_EQ(scaled(0, 2), 0);
  EXPECT_EQ(scaled(2, 2), 1);
}

TEST(Scaler, NeverDividesByZero) {
  Scaler scaler;
  scaler.fit(Matrix::Constant(3, 1, 1e-30));
  EXPECT_EQ(scaler.apply(Vector{{7}})[0], 7 - 1e-30);
  EXPECT_THROW(Scaler(Vector{{0}}, Vector{{0}}), Error);
  EXPECT_THROW(Scaler(Vector{{0, 0}}, Vector{{1}}), Error);
}

Matrix scaled_waves() {
  Matrix x = waves(20, 5);
  const double scale[] = {1, 3, 0.5, 2, 0.1}, shift[] = {10, 0, -4, 1, 100};
  for (Index c = 0; c < 5; ++c) x.col(c) = (x.col(c).array() * scale[c] + shift[c]).matrix();
  return x;
}

TEST(Pca, FindsDirectionsOfGreatestVariance) {
  const Matrix x = scaled_waves();
  Pca pca;
  pca.fit(x, 3);
  const double variance[] = {4.774200255971766, 2.1934142224596433, 0.5057432485429478};
  const double share[] = {0.6295205418135301, 0.28922107069495817, 0.06668672170654212};
  const double first[] = {-0.019373977919750755, 0.9976321348888404, -0.015549491910103404,
                          -0.06246848101436128, 0.014514633918753276};
  const double third[] = {0.9997174635377234, 0.01911643990602285, 0.009917011695246588,
                          -0.008484275780221269, -0.005405993575833732};
  const double row[] = {-1.146834984939122, -2.080862225242716, 0.31501279301669227};
  const Matrix coordinates = pca.transform(x);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(pca.variance()[i], variance[i], 1e-12);
    EXPECT_NEAR(pca.share()[i], share[i], 1e-12);
    EXPECT_NEAR(coordinates(7, i), row[i], 1e-12);
  }
  for (Index c = 0; c < 5; ++c) {
    EXPECT_NEAR(pca.components()(0, c), first[c], 1e-12);
    EXPECT_NEAR(pca.components()(2, c), third[c], 1e-12);
  }
}

TEST(Pca, AllComponentsRestoreTheRows) {
  const Matrix x = scaled_waves();
  Pca pca;
  pca.fit(x);
  EXPECT_TRUE(pca.restore(pca.transform(x)).isApprox(x, 1e-12));
  MemoryState state;
  pca.save(state, "pca");
  Pca again;
  again.load(state, "pca");
  EXPECT_EQ(again.transform(x), pca.transform(x));
  EXPECT_EQ(again.share(), pca.share());
  EXPECT_THROW(pca.fit(x.topRows(1)), Error);
}

TEST(NonNegative, KeepsWeightsAtZeroThatWouldBeNegative) {
  const Vector b = (waves(12, 1, 0.4).col(0).array() * 2 + 0.5).matrix();
  const NonNegative found = non_negative_least_squares(waves(12, 6), b);
  const double weights[] = {1.9806707448015226, 0, 0, 0.007487041180146791, 0.15998602125801048, 0};
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(found.weights[i], weights[i], 1e-12) << i;
  EXPECT_NEAR(found.residual, 2.6926981611580523, 1e-12);
}

TEST(NonNegative, FindsExactWeights) {
  const Matrix a = waves(15, 4).cwiseAbs();
  Vector weights(4);
  weights << 1.5, 0, 2.25, 0.125;
  const NonNegative found = non_negative_least_squares(a, a * weights);
  EXPECT_TRUE(found.weights.isApprox(weights, 1e-12));
  EXPECT_NEAR(found.residual, 0, 1e-12);
  EXPECT_EQ(non_negative_least_squares(a, -(a * weights)).weights, Vector::Zero(4));
  EXPECT_THROW(non_negative_least_squares(a, weights), Error);
}

}  // namespace
}  // namespace omen::learn
