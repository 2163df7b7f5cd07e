// SPDX-License-Identifier: Apache-2.0
// Neighbours, intervals that depend on them, and corrections from a few measurements.
#include <gtest/gtest.h>

#include <cmath>

#include "omen/error.hpp"
#include "omen/learn/correction.hpp"
#include "omen/learn/density.hpp"
#include "omen/learn/intervals.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

Matrix column(std::initializer_list<double> values) {
  Matrix rows(static_cast<Index>(values.size()), 1);
  Index row = 0;
  for (const double value : values) rows(row++, 0) = value;
  return rows;
}

TEST(Density, CountsNeighboursByTheirDistance) {
  Density density(0.5);
  EXPECT_TRUE(std::isinf(density.neighbours(column({1}))[0])) << "nothing speaks against a row";
  density.fit(column({0, 0, 1}));
  const Vector found = density.neighbours(column({0, 1, 100}));
  EXPECT_NEAR(found[0], 2 + std::exp(-2), 1e-12);
  EXPECT_NEAR(found[1], 1 + 2 * std::exp(-2), 1e-12);
  EXPECT_LT(found[2], 1e-12);
  density.add(column({100}));
  EXPECT_NEAR(density.neighbours(column({100}))[0], 1, 1e-12);
}

TEST(Density, RowsOfOneGroupAreOneNeighbour) {
  Density density(1);
  EXPECT_TRUE(std::isinf(density.groups_near(column({1}), 0.5)[0]));
  density.fit(column({0, 0, 1}), {7, 7, 3});
  const Vector found = density.groups_near(column({0, 2}), 0.5);
  EXPECT_NEAR(found[0], 1 + std::exp(-2), 1e-12);
  EXPECT_NEAR(found[1], std::exp(-4) + std::exp(-2), 1e-12);
  density.add(column({0}));
  EXPECT_NEAR(density.groups_near(column({0}), 0.5)[0], 2 + std::exp(-2), 1e-12);
}

TEST(Density, IsKept) {
  Density density(0.5), again(0.5);
  density.fit(column({0, 2}), {1, 1});
  MemoryState state;
  density.save(state, "d");
  again.load(state, "d", 1);
  EXPECT_EQ(again.neighbours(column({1}))[0], density.neighbours(column({1}))[0]);
  EXPECT_EQ(again.groups_near(column({1}), 2)[0], std::exp(-0.5));
  EXPECT_THROW(again.load(state, "d", 2), Error);
}

// Rows that are known well have small errors, others large ones.
struct Noisy {
  Vector said, measured, knowledge;

  explicit Noisy(Index rows) : said(rows), measured(rows), knowledge(rows) {
    Random random(5);
    for (Index i = 0; i < rows; ++i) {
      knowledge[i] = random.uniform();
      said[i] = 0;
      measured[i] = random.normal() * (knowledge[i] > 0.5 ? 1 : 10);
    }
  }
};

TEST(ConditionalQuantiles, AreNarrowWhereMuchIsKnown) {
  const Noisy data(2000);
  const ConditionalQuantiles intervals(data.said, data.measured, data.knowledge, 4);
  EXPECT_NEAR(intervals.half_width(0.8, 0.9), 1.28, 0.15);
  EXPECT_NEAR(intervals.half_width(0.8, 0.1), 12.8, 1.5);
  const Noisy fresh(2000);
  double inside = 0;
  for (Index i = 0; i < 2000; ++i)
    inside += std::abs(fresh.measured[i]) <= intervals.half_width(0.8, fresh.knowledge[i]);
  EXPECT_NEAR(inside / 2000, 0.8, 0.03);
}

TEST(ConditionalQuantiles, FewRowsShareOneBinAndEqualOnesStayTogether) {
  const Noisy few(30);
  const ConditionalQuantiles one(few.said, few.measured, few.knowledge);
  EXPECT_EQ(one.half_width(0.8, 0), one.half_width(0.8, 1));
  EXPECT_TRUE(std::isnan(ConditionalQuantiles().half_width(0.8, 1)));
  const Noisy many(100);
  const ConditionalQuantiles equal(many.said, many.measured, Vector::Ones(100));
  EXPECT_EQ(equal.half_width(0.8, 0), equal.half_width(0.8, 2));
}

TEST(ConditionalQuantiles, AreKept) {
  const Noisy data(200);
  const ConditionalQuantiles intervals(data.said, data.measured, data.knowledge);
  MemoryState state;
  intervals.save(state, "i");
  ConditionalQuantiles again;
  again.load(state, "i");
  for (const double knowledge : {0.0, 0.3, 0.6, 1.0})
    EXPECT_EQ(again.half_width(0.8, knowledge), intervals.half_width(0.8, knowledge));
  state.put_integers("i.bins", {2});
  EXPECT_THROW(again.load(state, "i"), Error);
}

TEST(LocalQuantiles, AreNarrowWhereMuchIsKnown) {
  const Noisy data(2000);
  const LocalQuantiles intervals(data.said, data.measured, data.knowledge, Vector::Ones(2000), 8);
  EXPECT_NEAR(intervals.half_width(0.8, 0.9), 1.28, 0.15);
  EXPECT_NEAR(intervals.half_width(0.8, 0.1), 12.8, 1.5);
  const Noisy fresh(2000);
  double inside = 0;
  for (Index i = 0; i < 2000; ++i)
    inside += std::abs(fresh.measured[i]) <= intervals.half_width(0.8, fresh.knowledge[i]);
  EXPECT_NEAR(inside / 2000, 0.8, 0.03);
}

TEST(LocalQuantiles, FewRowsShareAnIntervalAndEqualKnowledgeGivesOne) {
  const Noisy few(20);
  const LocalQuantiles one(few.said, few.measured, few.knowledge, Vector::Ones(20));
  EXPECT_EQ(one.half_width(0.8, 0), one.half_width(0.8, 1));
  EXPECT_TRUE(std::isnan(LocalQuantiles().half_width(0.8, 1)));
  const Noisy many(100);
  const LocalQuantiles all(many.said, many.measured, many.knowledge, Vector::Ones(100), 1);
  EXPECT_EQ(all.half_width(0.8, 0), all.half_width(0.8, 1));
  EXPECT_EQ(all.half_width(0.8, 0), ResidualQuantiles(many.said, many.measured).half_width(0.8));
}

TEST(LocalQuantiles, ResidualsCountByTheirWeights) {
  Vector said = Vector::Zero(40), measured(40), weights(40);
  for (Index i = 0; i < 40; ++i) {
    measured[i] = i < 30 ? 1 : 9;
    weights[i] = i < 30 ? 1 : 0.1;
  }
  const Vector knowledge = Vector::Ones(40);
  EXPECT_EQ(LocalQuantiles(said, measured, knowledge, Vector::Ones(40), 1).half_width(0.8, 1), 9);
  EXPECT_EQ(LocalQuantiles(said, measured, knowledge, weights, 1).half_width(0.8, 1), 1);
}

TEST(LocalQuantiles, AreKept) {
  const Noisy data(200);
  const LocalQuantiles intervals(data.said, data.measured, data.knowledge, Vector::Ones(200));
  MemoryState state;
  intervals.save(state, "i");
  LocalQuantiles again;
  again.load(state, "i");
  for (const double knowledge : {0.0, 0.3, 0.6, 1.0})
    EXPECT_EQ(again.half_width(0.8, knowledge), intervals.half_width(0.8, knowledge));
  state.put_integers("i.parts", {0});
  EXPECT_THROW(again.load(state, "i"), Error);
}

// What ten rows between 0 and 1 make of a row in their midst.
double moved_by(const std::vector<double>& residuals, double most_noise) {
  Correction correction({0.05, 0.1, 2e-3, 1.5, most_noise});
  Matrix rows(static_cast<Index>(residuals.size()), 1), off = rows;
  for (Index i = 0; i < rows.rows(); ++i) {
    rows(i, 0) = static_cast<double>(i) / 10;
    off(i, 0) = residuals[static_cast<std::size_t>(i)];
  }
  correction.add(rows, off);
  return correction.of(column({0.45}))(0, 0);
}

TEST(Correction, TrustsRowsAsFarAsTheyAgree) {
  const std::vector<double> agree(10, 0.5);
  EXPECT_NEAR(moved_by(agree, 0.6), 0.5, 0.02);
  std::vector<double> one_is_off = agree;
  one_is_off[4] = 2.5;
  EXPECT_NEAR(moved_by(one_is_off, 0.6), 0.5, 0.1);
  EXPECT_GT(moved_by(one_is_off, 0), 1) << "with a known noise every row is believed";
  const std::vector<double> scattered = {0.9, -0.7, 0.8, -0.9, 1.2, 0.7, -0.8, 0.9, -1, 0.6};
  EXPECT_LT(std::abs(moved_by(scattered, 0.6)), 0.25);
  EXPECT_GT(std::abs(moved_by(scattered, 0)), 0.4);
}

TEST(Correction, BelievesASingleRow) {
  EXPECT_NEAR(moved_by({0.7}, 0.6), moved_by({0.7}, 0), 0.01);
}

TEST(Correction, MovesRowsTowardsWhatWasMeasured) {
  Correction correction({1, 1, 0.1, 0.5});
  EXPECT_EQ(correction.of(column({1})).size(), 0) << "no answer is known before the first one";
  correction.add(column({0}), column({2}));
  const Matrix first = correction.of(column({0, 10}));
  EXPECT_GT(first(0, 0), first(1, 0));
  EXPECT_GT(first(1, 0), 0.5) << "what all rows share";
  correction.add(column({10, 10.1, 9.9}), column({-2, -2, -2}));
  EXPECT_LT(correction.of(column({10}))(0, 0), -1);
  EXPECT_GT(correction.of(column({0}))(0, 0), 0.5);
  MemoryState state;
  correction.save(state, "c");
  Correction again({1, 1, 0.1, 0.5});
  again.load(state, "c", 1, 1);
  EXPECT_NEAR(again.of(column({3}))(0, 0), correction.of(column({3}))(0, 0), 1e-12);
}

}  // namespace
}  // namespace omen::learn
