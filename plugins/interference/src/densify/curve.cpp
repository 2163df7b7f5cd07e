// SPDX-License-Identifier: Apache-2.0
// The methods by name, and the pieces that several of them share.
#include "densify/curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <omen/error.hpp>
#include <omen/join.hpp>

#include "densify/process_curve.hpp"
#include "densify/spline2.hpp"

namespace omen::interference {
namespace {

using Numbers = std::vector<double>;

struct CurveName {
  CurveMethod method;
  const char* name;
};
constexpr CurveName kCurveNames[] = {{CurveMethod::kLinear, "linear"},
                                     {CurveMethod::kPchip, "pchip"},
                                     {CurveMethod::kBarycentric, "barycentric"},
                                     {CurveMethod::kKrogh, "krogh"},
                                     {CurveMethod::kCubicSpline, "cubicspline"},
                                     {CurveMethod::kSpline2Interpolating, "spline2_interp"},
                                     {CurveMethod::kSpline2Smoothing, "spline2_smooth"},
                                     {CurveMethod::kProcess, "process"}};

class ConstantCurve final : public Curve {
 public:
  explicit ConstantCurve(double y) : y_(y) {}
  double at(double) const override { return y_; }

 private:
  double y_;
};

class LinearCurve final : public Curve {
 public:
  LinearCurve(Numbers x, Numbers y) : x_(std::move(x)), y_(std::move(y)) {}
  double at(double x) const override {
    if (x <= x_.front()) return y_.front();
    if (x >= x_.back()) return y_.back();
    const auto right = std::upper_bound(x_.begin(), x_.end(), x) - x_.begin();
    const auto i = static_cast<std::size_t>(right);
    return y_[i - 1] + (y_[i] - y_[i - 1]) * (x - x_[i - 1]) / (x_[i] - x_[i - 1]);
  }

 private:
  Numbers x_, y_;
};

// doi:10.1137/S0036144502417715; the scale keeps the weights of many nodes within range.
class BarycentricCurve final : public Curve {
 public:
  BarycentricCurve(Numbers x, Numbers y)
      : x_(std::move(x)), y_(std::move(y)), weight_(x_.size(), 1) {
    const double scale = 4 / (x_.back() - x_.front());
    for (std::size_t i = 0; i < x_.size(); ++i)
      for (std::size_t j = 0; j < x_.size(); ++j)
        if (i != j) weight_[i] /= scale * (x_[i] - x_[j]);
  }
  double at(double x) const override {
    double above = 0, below = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x == x_[i]) return y_[i];
      const double part = weight_[i] / (x - x_[i]);
      above += part * y_[i];
      below += part;
    }
    return above / below;
  }

 private:
  Numbers x_, y_, weight_;
};

// Newton's divided differences.
class KroghCurve final : public Curve {
 public:
  KroghCurve(Numbers x, Numbers y) : x_(std::move(x)), difference_(std::move(y)) {
    for (std::size_t order = 1; order < x_.size(); ++order)
      for (std::size_t i = x_.size() - 1; i >= order; --i)
        difference_[i] = (difference_[i] - difference_[i - 1]) / (x_[i] - x_[i - order]);
  }
  double at(double x) const override {
    double sum = 0, product = 1;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      sum += difference_[i] * product;
      product *= x - x_[i];
    }
    return sum;
  }

 private:
  Numbers x_, difference_;
};

// Where the third derivative is continuous at the second and the last but one node.
Numbers not_a_knot_slopes(const Numbers& x, const Numbers& y) {
  const std::size_t n = x.size();
  Numbers h(n - 1), d(n - 1);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    h[k] = x[k + 1] - x[k];
    d[k] = (y[k + 1] - y[k]) / h[k];
  }
  if (n == 2) return {d[0], d[0]};
  if (n == 3) {
    const double bend = (d[1] - d[0]) / (x[2] - x[0]);
    return {d[0] - bend * h[0], d[0] + bend * h[0], d[1] + bend * h[1]};
  }
  Numbers lower(n, 0), middle(n, 0), upper(n, 0), right(n, 0);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    lower[k] = h[k];
    middle[k] = 2 * (h[k - 1] + h[k]);
    upper[k] = h[k - 1];
    right[k] = 3 * (h[k] * d[k - 1] + h[k - 1] * d[k]);
  }
  const double first = h[0] + h[1], last = h[n - 2] + h[n - 3];
  middle[0] = h[1];
  upper[0] = first;
  right[0] = ((h[0] + 2 * first) * h[1] * d[0] + h[0] * h[0] * d[1]) / first;
  middle[n - 1] = h[n - 3];
  lower[n - 1] = last;
  right[n - 1] =
      ((h[n - 2] + 2 * last) * h[n - 3] * d[n - 2] + h[n - 2] * h[n - 2] * d[n - 3]) / last;
  for (std::size_t k = 1; k < n; ++k) {
    const double factor = lower[k] / middle[k - 1];
    middle[k] -= factor * upper[k - 1];
    right[k] -= factor * right[k - 1];
  }
  Numbers slopes(n);
  slopes[n - 1] = right[n - 1] / middle[n - 1];
  for (std::size_t k = n - 1; k-- > 0;)
    slopes[k] = (right[k] - upper[k] * slopes[k + 1]) / middle[k];
  return slopes;
}

void sort_nodes(Numbers& x, Numbers& y) {
  if (x.empty() || x.size() != y.size())
    throw Error(OMEN_INVALID_DATA, "a curve needs at least one measured point");
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]) || !std::isfinite(y[i]))
      throw Error(OMEN_INVALID_DATA, "a measured point is not finite",
                  "Leave out rows without a value.");
  if (!std::is_sorted(x.begin(), x.end())) {
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
    Numbers sorted_x, sorted_y;
    for (const std::size_t i : order) {
      sorted_x.push_back(x[i]);
      sorted_y.push_back(y[i]);
    }
    x = std::move(sorted_x);
    y = std::move(sorted_y);
  }
  const auto twin = std::adjacent_find(x.begin(), x.end());
  if (twin != x.end())
    throw Error(OMEN_INVALID_DATA, "two measured points lie at " + std::to_string(*twin),
                "Keep one row for each batch size, such as their mean.");
}

}  // namespace

const std::vector<CurveMethod>& all_curve_methods() {
  static const std::vector<CurveMethod> methods = [] {
    std::vector<CurveMethod> all;
    for (const CurveName& known : kCurveNames) all.push_back(known.method);
    return all;
  }();
  return methods;
}

const char* curve_name(CurveMethod method) {
  for (const CurveName& known : kCurveNames)
    if (known.method == method) return known.name;
  return "";
}

CurveMethod parse_curve_method(const std::string& name) {
  for (const CurveName& known : kCurveNames)
    if (name == known.name) return known.method;
  throw Error(OMEN_INVALID_ARGUMENT, "there is no method '" + name + "'",
              "Known are " + join(all_curve_methods(), ", ", curve_name) + ".");
}

std::vector<double> pchip_slopes(const Numbers& x, const Numbers& y) {
  const std::size_t n = x.size();
  const auto width = [&](std::size_t k) { return x[k + 1] - x[k]; };
  const auto rise = [&](std::size_t k) { return (y[k + 1] - y[k]) / width(k); };
  Numbers slopes(n, 0);
  if (n == 2) return {rise(0), rise(0)};
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double before = rise(k - 1), after = rise(k);
    if (before * after <= 0) continue;
    const double w1 = 2 * width(k) + width(k - 1), w2 = width(k) + 2 * width(k - 1);
    slopes[k] = (w1 + w2) / (w1 / before + w2 / after);
  }
  const auto end = [](double h0, double h1, double d0, double d1) {
    const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0) return 0.0;
    if (d0 * d1 <= 0 && std::abs(slope) > 3 * std::abs(d0)) return 3 * d0;
    return slope;
  };
  slopes[0] = end(width(0), width(1), rise(0), rise(1));
  slopes[n - 1] = end(width(n - 2), width(n - 3), rise(n - 2), rise(n - 3));
  return slopes;
}

PiecewiseCubic::PiecewiseCubic(Numbers x, Numbers y, const Numbers& slopes) : x_(std::move(x)) {
  pieces_.reserve(x_.size() - 1);
  for (std::size_t k = 0; k + 1 < x_.size(); ++k) {
    const double h = x_[k + 1] - x_[k], d = (y[k + 1] - y[k]) / h;
    pieces_.push_back({y[k], slopes[k], (3 * d - 2 * slopes[k] - slopes[k + 1]) / h,
                       (slopes[k] + slopes[k + 1] - 2 * d) / (h * h)});
  }
  // As many cells as pieces: evenly spread nodes are found at once, others after a short walk.
  const double range = x_.back() - x_.front();
  const std::size_t cells = pieces_.size();
  cells_per_x_ = static_cast<double>(cells) / range;
  start_.resize(cells + 1);
  std::size_t piece = 0;
  for (std::size_t cell = 0; cell <= cells; ++cell) {
    const double left = x_.front() + static_cast<double>(cell) / cells_per_x_;
    while (piece + 1 < pieces_.size() && x_[piece + 1] < left) ++piece;
    start_[cell] = static_cast<std::uint32_t>(piece);
  }
}

std::size_t PiecewiseCubic::piece_of(double x) const {
  const double cell = (x - x_.front()) * cells_per_x_;
  if (!(cell > 0)) return 0;
  if (cell >= static_cast<double>(pieces_.size())) return pieces_.size() - 1;
  std::size_t low = start_[static_cast<std::size_t>(cell)];
  std::size_t high =
      std::min<std::size_t>(start_[static_cast<std::size_t>(cell) + 1], pieces_.size() - 1);
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (x_[middle] <= x)
      low = middle;
    else
      high = middle - 1;
  }
  // Rounding of the cell may hide the neighbour.
  while (low + 1 < pieces_.size() && x_[low + 1] <= x) ++low;
  while (low > 0 && x_[low] > x) --low;
  return low;
}

double PiecewiseCubic::value(std::size_t piece, double x) const {
  const Piece& p = pieces_[piece];
  const double u = x - x_[piece];
  return p.y + u * (p.slope + u * (p.square + u * p.cube));
}

double PiecewiseCubic::at(double x) const {
  return value(piece_of(x), x);
}

void PiecewiseCubic::at(const Numbers& x, Numbers& out) const {
  // Questions in any order miss the cache at every look, so several looks wait at the same time.
  constexpr std::size_t kTogether = 32;
  std::size_t guess[kTogether];
  out.resize(x.size());
  for (std::size_t first = 0; first < x.size(); first += kTogether) {
    const std::size_t count = std::min(kTogether, x.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const double cell = (x[first + i] - x_.front()) * cells_per_x_;
      guess[i] =
          cell > 0
              ? static_cast<std::size_t>(std::min(cell, static_cast<double>(pieces_.size() - 1)))
              : 0;
      __builtin_prefetch(&start_[guess[i]]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t piece = start_[guess[i]];
      __builtin_prefetch(&x_[piece]);
      __builtin_prefetch(&pieces_[piece]);
    }
    for (std::size_t i = 0; i < count; ++i)
      out[first + i] = value(piece_of(x[first + i]), x[first + i]);
  }
}

std::unique_ptr<Curve> make_curve(CurveMethod method, Numbers x, Numbers y) {
  sort_nodes(x, y);
  if (x.size() == 1) return std::make_unique<ConstantCurve>(y[0]);
  switch (method) {
    case CurveMethod::kLinear:
      return std::make_unique<LinearCurve>(std::move(x), std::move(y));
    case CurveMethod::kPchip: {
      const Numbers slopes = pchip_slopes(x, y);
      return std::make_unique<PiecewiseCubic>(std::move(x), std::move(y), slopes);
    }
    case CurveMethod::kBarycentric:
      return std::make_unique<BarycentricCurve>(std::move(x), std::move(y));
    case CurveMethod::kKrogh:
      return std::make_unique<KroghCurve>(std::move(x), std::move(y));
    case CurveMethod::kCubicSpline: {
      const Numbers slopes = not_a_knot_slopes(x, y);
      return std::make_unique<PiecewiseCubic>(std::move(x), std::move(y), slopes);
    }
    case CurveMethod::kSpline2Interpolating:
      return make_interpolating_spline2(x, y);
    case CurveMethod::kSpline2Smoothing:
      return make_smoothing_spline2(x, y, static_cast<double>(x.size()));
    case CurveMethod::kProcess:
      return std::make_unique<ProcessCurve>(x, y);
  }
  throw Error(OMEN_INTERNAL, "a method has no curve");
}

}  // namespace omen::interference
