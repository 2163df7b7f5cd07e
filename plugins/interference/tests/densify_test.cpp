// SPDX-License-Identifier: Apache-2.0
// Properties of curves, and what happens with odd measurements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "densify/fill.hpp"
#include "omen/testing/errors.hpp"

namespace omen::interference {
namespace {

using test::error_of;
using test::IsError;
using ::testing::HasSubstr;

TEST(Curve, PassesThroughItsNodes) {
  const std::vector<double> x = {5, 1, 2, 8, 11}, y = {3, 1, 4, 1, 5};
  for (const CurveMethod method : all_curve_methods()) {
    if (method == CurveMethod::kSpline2Smoothing || method == CurveMethod::kProcess) continue;
    const auto curve = make_curve(method, x, y);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(curve->at(x[i]), y[i], 1e-9) << curve_name(method);
  }
}

TEST(Curve, PchipKeepsMonotoneDataMonotone) {
  const auto curve = make_curve(CurveMethod::kPchip, {0, 1, 2, 7, 9}, {0, 0, 5, 6, 60});
  double last = -1e-12;
  for (double x = 0; x <= 9; x += 0.01) {
    EXPECT_GE(curve->at(x), last - 1e-12);
    last = curve->at(x);
  }
}

TEST(Curve, PolynomialsAndCubicsAreReproduced) {
  const auto cubic = [](double x) { return 2 - x + 0.5 * x * x - 0.1 * x * x * x; };
  std::vector<double> x = {-1, 0, 2, 3, 5}, y;
  for (const double at : x) y.push_back(cubic(at));
  for (const CurveMethod method :
       {CurveMethod::kBarycentric, CurveMethod::kKrogh, CurveMethod::kCubicSpline})
    for (double at = -2; at < 7; at += 0.3)
      EXPECT_NEAR(make_curve(method, x, y)->at(at), cubic(at), 1e-9) << curve_name(method);
}

TEST(Curve, FewNodesAreConstantsLinesAndParabolas) {
  for (const CurveMethod method : all_curve_methods()) {
    EXPECT_NEAR(make_curve(method, {4}, {7})->at(9), 7, 1e-9) << curve_name(method);
    if (method != CurveMethod::kProcess) {
      EXPECT_NEAR(make_curve(method, {0, 4}, {0, 8})->at(1), 2, 1e-9) << curve_name(method);
    }
  }
  EXPECT_NEAR(make_curve(CurveMethod::kCubicSpline, {0, 1, 3}, {0, 1, 9})->at(2), 4, 1e-12);
}

TEST(Curve, ProcessIsSurestAtItsNodes) {
  const auto curve = make_curve(CurveMethod::kProcess, {1, 3, 5, 7}, {10, 40, 60, 65});
  EXPECT_NEAR(curve->at(3), 40, 4);
  EXPECT_GT(curve->deviation(20), curve->deviation(3));
}

TEST(Curve, ManyUnsortedQuestionsEqualSingleOnes) {
  std::vector<double> x, y, asked, out;
  for (int i = 0; i < 500; ++i) {
    x.push_back(i < 250 ? i * 0.01 : i * i);
    y.push_back(std::sin(i * 0.1));
    asked.push_back(std::fmod(i * 7919.0, 260000) - 100);
  }
  const PiecewiseCubic curve(x, y, pchip_slopes(x, y));
  curve.at(asked, out);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::size_t piece = 0;
    while (piece + 2 < x.size() && x[piece + 1] <= asked[i]) ++piece;
    EXPECT_EQ(out[i], curve.at(asked[i]));
    if (asked[i] >= x[0] && asked[i] <= x.back()) {
      EXPECT_GE(out[i], std::min(y[piece], y[piece + 1]) - 1e-9);
      EXPECT_LE(out[i], std::max(y[piece], y[piece + 1]) + 1e-9);
    }
  }
}

TEST(Fill, MarksWhatNobodyMeasured) {
  FillOptions options;
  const std::vector<Filled> rows = fill({{2, 32}, {10, 90}}, {8, 64}, options);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_FALSE(rows[0].is_synthetic);
  EXPECT_TRUE(rows[1].is_synthetic);
  EXPECT_NEAR(rows[1].value, 50, 1e-9);
  EXPECT_TRUE(rows[3].is_synthetic);
  EXPECT_EQ(rows[3].value, 90);
}

TEST(Fill, StaysWithinItsBoundsAndNeighbours) {
  FillOptions options;
  options.method = CurveMethod::kBarycentric;
  options.monotone = true;
  for (const Filled& row :
       fill({{1, 2, 4, 8, 256}, {99, 100, 99, 100, 100}}, {16, 32, 64}, options)) {
    EXPECT_LE(row.value, 100);
    EXPECT_GE(row.value, 99);
  }
}

TEST(Fill, OneBatchAndConstantsHaveADefinedAnswer) {
  for (const CurveMethod method : all_curve_methods()) {
    FillOptions options;
    options.method = method;
    EXPECT_NEAR(fill({{32}, {40}}, {64}, options)[1].value, 40, 1e-6) << curve_name(method);
    EXPECT_NEAR(fill({{2, 32, 64}, {40, 40, 40}}, {8}, options)[1].value, 40, 1e-6)
        << curve_name(method);
    // Falling values are as good as rising ones.
    EXPECT_NEAR(fill({{2, 8, 32}, {50, 40, 30}}, {4}, options)[1].value, 45, 4)
        << curve_name(method);
  }
}

TEST(Fill, RefusesTwinsAndNonsense) {
  FillOptions options;
  EXPECT_THAT(error_of([&] {
                fill({{32, 32}, {1, 2}}, {}, options);
              }),
              IsError(OMEN_INVALID_DATA, HasSubstr("two measured points"), HasSubstr("mean")));
  EXPECT_THAT(error_of([&] {
                fill({{32, 64}, {1, NAN}}, {}, options);
              }),
              IsError(OMEN_INVALID_DATA, HasSubstr("not finite"), HasSubstr("Leave out")));
  EXPECT_THAT(error_of([&] {
                fill({{0, 64}, {1, 2}}, {}, options);
              }),
              IsError(OMEN_INVALID_DATA, HasSubstr("not above 0"), HasSubstr("Leave")));
}

}  // namespace
}  // namespace omen::interference
