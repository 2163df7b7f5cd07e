// SPDX-License-Identifier: Apache-2.0
// Least squares over quadratic B-splines, knots where they are needed, and a penalty on jumps.
#include "densify/spline2.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace omen::interference {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kDegree = 2;
constexpr double kTolerance = 1e-3;  // of the sum of squares, as a part of what is allowed

// Three-fold knots at the ends, single ones between.
class QuadraticBasis {
 public:
  QuadraticBasis(double first, double last, const std::vector<double>& interior) {
    knots_.assign(kDegree + 1, first);
    knots_.insert(knots_.end(), interior.begin(), interior.end());
    knots_.insert(knots_.end(), kDegree + 1, last);
  }
  Index size() const { return static_cast<Index>(knots_.size()) - kDegree - 1; }
  Index interior() const { return size() - kDegree - 1; }

  // The interval whose piece holds at x; the end pieces go on beyond the ends.
  Index interval(double x) const {
    Index i = kDegree;
    while (i + 1 < size() && x >= knot(i + 1)) ++i;
    return i;
  }
  // The values of the three functions that are not 0 there, the first of which is interval - 2.
  void values(Index at, double x, double out[kDegree + 1]) const {
    out[0] = 1;
    for (int degree = 1; degree <= kDegree; ++degree) {
      double carried = 0;
      for (int j = 0; j < degree; ++j) {
        const double right = knot(at + j + 1), left = knot(at + j + 1 - degree);
        const double part = out[j] / (right - left);
        out[j] = carried + (right - x) * part;
        carried = (x - left) * part;
      }
      out[degree] = carried;
    }
  }
  MatrixXd design(const std::vector<double>& x) const {
    MatrixXd rows = MatrixXd::Zero(static_cast<Index>(x.size()), size());
    for (Index i = 0; i < rows.rows(); ++i) {
      double out[kDegree + 1];
      const Index at = interval(x[static_cast<std::size_t>(i)]);
      values(at, x[static_cast<std::size_t>(i)], out);
      for (int j = 0; j <= kDegree; ++j) rows(i, at - kDegree + j) = out[j];
    }
    return rows;
  }
  // Jumps of the second derivative at the interior knots.
  MatrixXd jumps() const {
    MatrixXd rows = MatrixXd::Zero(interior(), size());
    for (Index i = 0; i < rows.rows(); ++i)
      for (int side = 0; side < 2; ++side) {
        const Index at = kDegree + i + side;
        const double left = knot(at), width = knot(at + 1) - left;
        double a[kDegree + 1], b[kDegree + 1], c[kDegree + 1];
        values(at, left, a);
        values(at, left + width / 2, b);
        values(at, left + width, c);
        for (int j = 0; j <= kDegree; ++j)
          rows(i, at - kDegree + j) +=
              (side == 1 ? 1 : -1) * 4 * (a[j] - 2 * b[j] + c[j]) / (width * width);
      }
    return rows;
  }

 private:
  double knot(Index i) const { return knots_[static_cast<std::size_t>(i)]; }
  std::vector<double> knots_;
};

class Spline2 final : public Curve {
 public:
  Spline2(QuadraticBasis basis, VectorXd coefficients)
      : basis_(std::move(basis)), coefficients_(std::move(coefficients)) {}
  double at(double x) const override {
    double out[kDegree + 1];
    const Index at = basis_.interval(x);
    basis_.values(at, x, out);
    double sum = 0;
    for (int j = 0; j <= kDegree; ++j) sum += out[j] * coefficients_[at - kDegree + j];
    return sum;
  }

 private:
  QuadraticBasis basis_;
  VectorXd coefficients_;
};

VectorXd least_squares(const MatrixXd& rows, const VectorXd& y) {
  return rows.colPivHouseholderQr().solve(y);
}

std::vector<double> midpoint_knots(const std::vector<double>& x) {
  std::vector<double> knots;
  for (std::size_t i = 1; i + 2 < x.size(); ++i) knots.push_back((x[i] + x[i + 1]) / 2);
  return knots;
}

// Where the next knots go: intervals with the squares and the number of points inside.
struct KnotInterval {
  std::size_t first_point;  // the point at its left end
  std::size_t points;       // strictly inside
  double squares;
};

std::vector<KnotInterval> intervals_of(const std::vector<double>& x,
                                       const std::vector<std::size_t>& knot_points,
                                       const VectorXd& residual) {
  std::vector<KnotInterval> all;
  std::vector<std::size_t> ends = {0};
  ends.insert(ends.end(), knot_points.begin(), knot_points.end());
  ends.push_back(x.size() - 1);
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    KnotInterval one{ends[i], ends[i + 1] - ends[i] - 1, 0};
    for (std::size_t p = ends[i]; p <= ends[i + 1]; ++p) {
      const double square = residual[static_cast<Index>(p)] * residual[static_cast<Index>(p)];
      // A residual at an inner knot counts half to each side.
      const bool shared = (p == ends[i] && i > 0) || (p == ends[i + 1] && i + 2 < ends.size());
      one.squares += shared ? square / 2 : square;
    }
    all.push_back(one);
  }
  return all;
}

// Splits the worst interval that has a point inside, at its middle point. False where none has.
bool add_knot(std::vector<KnotInterval>& intervals, std::vector<std::size_t>& knot_points) {
  KnotInterval* worst = nullptr;
  for (KnotInterval& one : intervals)
    if (one.points > 0 && (!worst || one.squares > worst->squares)) worst = &one;
  if (!worst) return false;
  const std::size_t half = worst->points / 2 + 1, all = worst->points;
  const std::size_t point = worst->first_point + half;
  const double squares = worst->squares, share = squares / static_cast<double>(all);
  const KnotInterval right{point, all - half, share * static_cast<double>(all - half)};
  worst->points = half - 1;
  worst->squares = share * static_cast<double>(half - 1);
  const auto at = worst - intervals.data();
  intervals.insert(intervals.begin() + at + 1, right);
  knot_points.insert(std::upper_bound(knot_points.begin(), knot_points.end(), point), point);
  return true;
}

// The penalty that brings the sum of squares to what is allowed: it grows with the penalty.
VectorXd penalised(const QuadraticBasis& basis, const std::vector<double>& x, const VectorXd& y,
                   double most) {
  const MatrixXd design = basis.design(x), jumps = basis.jumps();
  MatrixXd rows(design.rows() + jumps.rows(), design.cols());
  VectorXd right = VectorXd::Zero(rows.rows());
  right.head(y.size()) = y;
  double low = -40, high = 40;  // logarithms of the penalty's root
  VectorXd coefficients;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    rows << design, std::exp(middle) * jumps;
    coefficients = least_squares(rows, right);
    const double squares = (design * coefficients - y).squaredNorm();
    if (std::abs(squares - most) < 1e-9 * most) break;
    (squares < most ? low : high) = middle;
  }
  return coefficients;
}

}  // namespace

std::unique_ptr<Curve> make_interpolating_spline2(const std::vector<double>& x,
                                                  const std::vector<double>& y) {
  if (x.size() < kDegree + 1) return make_curve(CurveMethod::kCubicSpline, x, y);
  QuadraticBasis basis(x.front(), x.back(), midpoint_knots(x));
  const VectorXd values = Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size()));
  VectorXd coefficients = least_squares(basis.design(x), values);
  return std::make_unique<Spline2>(std::move(basis), std::move(coefficients));
}

std::unique_ptr<Curve> make_smoothing_spline2(const std::vector<double>& x,
                                              const std::vector<double>& y, double most) {
  if (x.size() < kDegree + 1) return make_curve(CurveMethod::kCubicSpline, x, y);
  const VectorXd values = Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size()));
  const std::size_t most_knots = x.size() - kDegree - 1;
  const double tolerance = kTolerance * most;
  std::vector<std::size_t> knot_points;
  int added = 0;
  double before = 0;
  for (;;) {
    std::vector<double> interior;
    for (const std::size_t point : knot_points) interior.push_back(x[point]);
    if (knot_points.size() >= most_knots) interior = midpoint_knots(x);
    QuadraticBasis basis(x.front(), x.back(), interior);
    const MatrixXd design = basis.design(x);
    VectorXd coefficients = least_squares(design, values);
    const VectorXd residual = values - design * coefficients;
    const double squares = residual.squaredNorm();
    if (std::abs(squares - most) < tolerance || (squares <= most && interior.empty()))
      return std::make_unique<Spline2>(std::move(basis), std::move(coefficients));
    if (squares < most || knot_points.size() >= most_knots) {
      coefficients = penalised(basis, x, values, most);
      return std::make_unique<Spline2>(std::move(basis), std::move(coefficients));
    }
    if (added == 0) {
      added = 1;
    } else {
      int wanted = 2 * added;
      if (before - squares > tolerance)
        wanted = static_cast<int>(added * (squares - most) / (before - squares));
      added = std::min(2 * added, std::max({wanted, added / 2, 1}));
    }
    before = squares;
    std::vector<KnotInterval> intervals = intervals_of(x, knot_points, residual);
    for (int i = 0; i < added && knot_points.size() < most_knots; ++i)
      if (!add_knot(intervals, knot_points)) break;
  }
}

}  // namespace omen::interference
