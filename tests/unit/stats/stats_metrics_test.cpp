// SPDX-License-Identifier: Apache-2.0
// Metrics against scikit-learn and SciPy, and what they do where a value is not defined.
#include "stats/metrics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <omen/learn/correlation.hpp>
#include <omen/learn/random.hpp>

#include "omen/error.hpp"
#include "reference.hpp"

namespace omen::host::stats {
namespace {

using learn::kendall;
using learn::Random;

using ::testing::HasSubstr;

constexpr double kNoMetric = std::numeric_limits<double>::quiet_NaN();

const Metric& metric(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& m : metrics)
    if (m.name == name) return m;
  throw std::runtime_error("no metric " + name);
}

double value(const std::vector<Metric>& metrics, const std::string& name) {
  return metric(metrics, name).value;
}

void expect_reference(const std::vector<Metric>& metrics, const Reference& reference) {
  for (const Metric& m : metrics)
    EXPECT_NEAR(m.value, reference.one(m.name), 1e-10 * (1 + std::abs(m.value))) << m.name;
}

class RegressionReference : public ::testing::TestWithParam<const char*> {};

TEST_P(RegressionReference, EqualsScikitLearnAndSciPy) {
  const Reference reference(std::string("regression_") + GetParam());
  const auto metrics = regression_metrics(reference.all("truth"), reference.all("predicted"), "ms");
  EXPECT_EQ(metrics.size(), 9U);
  expect_reference(metrics, reference);
}
INSTANTIATE_TEST_SUITE_P(Cases, RegressionReference, ::testing::Values("plain", "ties", "short"));

TEST(RegressionMetrics, CarryUnitsAndDirection) {
  const std::vector<double> truth{1, 2, 3}, predicted{1, 2, 4};
  const auto metrics = regression_metrics(truth, predicted, "ms");
  EXPECT_EQ(metric(metrics, "mae").unit, "ms");
  EXPECT_EQ(metric(metrics, "mape").unit, "%");
  EXPECT_TRUE(metric(metrics, "mae").lower_is_better);
  EXPECT_FALSE(metric(metrics, "r2").lower_is_better);
  EXPECT_FALSE(metric(metrics, "share_within_5").lower_is_better);
}

TEST(RegressionMetrics, ATruthOfZeroLeavesOnlyMapeUndefined) {
  const std::vector<double> truth{0, 0, 10, 20, 40}, predicted{0, 1, 10.4, 20, 46};
  const auto metrics = regression_metrics(truth, predicted, "");
  EXPECT_TRUE(std::isnan(value(metrics, "mape")));
  EXPECT_NEAR(value(metrics, "median_ape"), 4, 1e-12);
  EXPECT_NEAR(value(metrics, "share_within_5"), 60, 1e-12);
}

TEST(RegressionMetrics, AConstantTruthHasNoCorrelation) {
  const std::vector<double> truth{3, 3, 3}, predicted{1, 2, 3};
  const auto metrics = regression_metrics(truth, predicted, "");
  for (const char* name : {"r2", "spearman", "kendall"})
    EXPECT_TRUE(std::isnan(value(metrics, name))) << name;
  EXPECT_DOUBLE_EQ(value(metrics, "mae"), 1);
}

TEST(RegressionMetrics, NoRowsGiveNoNumbers) {
  for (const Metric& m : regression_metrics({}, {}, "")) EXPECT_TRUE(std::isnan(m.value)) << m.name;
}

TEST(RegressionMetrics, RefuseColumnsOfDifferentLength) {
  const std::vector<double> two{1, 2}, three{1, 2, 3};
  EXPECT_THROW(regression_metrics(two, three, ""), Error);
}

// All pairs, by the definition of tau-b.
double kendall_by_pairs(const std::vector<double>& x, const std::vector<double>& y) {
  double balance = 0, untied_x = 0, untied_y = 0;
  const auto sign = [](double d) { return (d > 0) - (d < 0); };
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      balance += sign(x[i] - x[j]) * sign(y[i] - y[j]);
      untied_x += x[i] != x[j];
      untied_y += y[i] != y[j];
    }
  return balance / std::sqrt(untied_x * untied_y);
}

TEST(Kendall, EqualsAllPairs) {
  Random random(7);
  for (std::size_t rows : {2, 3, 7, 16, 33, 100}) {
    std::vector<double> x, y;
    for (std::size_t i = 0; i < rows; ++i) {
      x.push_back(static_cast<double>(random.below(rows)));
      y.push_back(x.back() + static_cast<double>(random.below(5)));
    }
    const double expected = kendall_by_pairs(x, y);
    if (std::isfinite(expected)) {
      EXPECT_NEAR(kendall(x, y), expected, 1e-12) << rows;
    } else {
      EXPECT_TRUE(std::isnan(kendall(x, y))) << rows;
    }
  }
}

class ClassReference : public ::testing::TestWithParam<const char*> {};

TEST_P(ClassReference, EqualsScikitLearn) {
  const Reference reference(std::string("classes_") + GetParam());
  const auto truth = reference.integers("truth"), predicted = reference.integers("predicted");
  const std::size_t classes = reference.all("probability").size() / truth.size();
  const Confusion matrix = confusion(truth, predicted, std::vector<std::string>(classes, "c"));
  EXPECT_EQ(std::vector<double>(matrix.counts.begin(), matrix.counts.end()),
            reference.all("confusion"));
  expect_reference(class_metrics(matrix, truth, reference.all("probability")), reference);
}
INSTANTIATE_TEST_SUITE_P(Cases, ClassReference, ::testing::Values("two", "five"));

TEST(ClassMetrics, AClassThatNeverOccursChangesNothing) {
  const std::vector<std::int32_t> truth{0, 0, 1}, predicted{0, 1, 1};
  const auto two = class_metrics(confusion(truth, predicted, {"a", "b"}), truth);
  const auto three = class_metrics(confusion(truth, predicted, {"a", "b", "never"}), truth);
  for (std::size_t i = 0; i < two.size(); ++i) EXPECT_EQ(two[i].value, three[i].value);
  EXPECT_EQ(two.size(), 4U) << "no log loss without probabilities";
}

TEST(ClassMetrics, ACertainMistakeIsBadButFinite) {
  const std::vector<std::int32_t> truth{0}, predicted{1};
  const std::vector<double> probability{0, 1};
  const auto metrics = class_metrics(confusion(truth, predicted, {"a", "b"}), truth, probability);
  EXPECT_NEAR(value(metrics, "log_loss"), 36.04, 0.01);
}

TEST(Confusion, RefusesAnUnknownClass) {
  const std::vector<std::int32_t> truth{0, 1}, predicted{0, 2}, negative{0, -1};
  try {
    confusion(truth, predicted, {"a", "b"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("row 1 has class 2 of 2"));
  }
  EXPECT_THROW(confusion(negative, truth, {"a", "b"}), Error);
}

TEST(IntervalMetrics, EqualReference) {
  const Reference reference("winkler");
  expect_reference(
      interval_metrics(reference.all("truth"), reference.all("lo"), reference.all("hi"), 0.9, "ms"),
      reference);
}

TEST(DecisionMetrics, ByHand) {
  const std::vector<Decision> decisions{
      {10, 10, 14}, {15, 10, 20}, {kNoMetric, 10, 12, false}, {20, 20, 20}};
  const auto metrics = decision_metrics(decisions, true);
  EXPECT_NEAR(value(metrics, "regret"), (0 + 50 + 20 + 0) / 4.0, 1e-12);
  EXPECT_NEAR(value(metrics, "top1"), 50, 1e-12);
  // Of 4 + 10 + 2 + 0 to gain, the picks gain 4 + 5 + 0 + 0.
  EXPECT_NEAR(value(metrics, "share_of_oracle_gain"), 100 * 9.0 / 16, 1e-12);
  EXPECT_NEAR(value(metrics, "infeasible_picks"), 25, 1e-12);
}

TEST(DecisionMetrics, HigherMayBeBetter) {
  const std::vector<Decision> decisions{{8, 10, 5}};
  const auto metrics = decision_metrics(decisions, false);
  EXPECT_NEAR(value(metrics, "regret"), 20, 1e-12);
  EXPECT_NEAR(value(metrics, "share_of_oracle_gain"), 60, 1e-12);
}

TEST(DecisionMetrics, WithoutDefaultAnInfeasiblePickHasNoRegret) {
  const Decision infeasible{kNoMetric, 10, kNoMetric, false};
  EXPECT_TRUE(std::isnan(decision_regret(infeasible, true)));
  const std::vector<Decision> decisions{infeasible, {11, 10, kNoMetric}};
  const auto metrics = decision_metrics(decisions, true);
  EXPECT_NEAR(value(metrics, "regret"), 10, 1e-12);
  EXPECT_NEAR(value(metrics, "infeasible_picks"), 50, 1e-12);
  EXPECT_TRUE(std::isnan(value(metrics, "share_of_oracle_gain")));
}

TEST(Losses, OfOneRow) {
  EXPECT_DOUBLE_EQ(number_loss(Loss::kAbsolute, 3, 1), 2);
  EXPECT_DOUBLE_EQ(number_loss(Loss::kSquared, 3, 1), 4);
  EXPECT_DOUBLE_EQ(number_loss(Loss::kAbsolutePercent, 4, 3), 25);
  EXPECT_TRUE(std::isnan(number_loss(Loss::kAbsolutePercent, 0, 0)));
  EXPECT_EQ(class_loss(Loss::kZeroOne, 2, 2, 0.1), 0);
  EXPECT_EQ(class_loss(Loss::kZeroOne, 2, 1, 0.9), 1);
  EXPECT_NEAR(class_loss(Loss::kLogLoss, 2, 1, 0.25), std::log(4), 1e-15);
}

TEST(Losses, NameWhatIsKnown) {
  try {
    number_loss(Loss::kZeroOne, 1, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'zero-one'"));
    EXPECT_THAT(error.hint(), HasSubstr("absolute-percent"));
  }
  EXPECT_THROW(class_loss(Loss::kAbsolute, 0, 1, 1), Error);
}

}  // namespace
}  // namespace omen::host::stats
