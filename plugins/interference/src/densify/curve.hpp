// SPDX-License-Identifier: Apache-2.0
// Curves through measured points: what fills the batch sizes that nobody measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace omen::interference {

enum class CurveMethod {
  kLinear,
  kPchip,
  kBarycentric,
  kKrogh,
  kCubicSpline,
  kSpline2Interpolating,
  kSpline2Smoothing,
  kProcess
};
const std::vector<CurveMethod>& all_curve_methods();
const char* curve_name(CurveMethod method);
// OMEN_INVALID_ARGUMENT where there is no such method.
CurveMethod parse_curve_method(const std::string& name);

class Curve {
 public:
  virtual ~Curve() = default;
  virtual double at(double x) const = 0;
  // Of the value at x; 0 where the method has no opinion.
  virtual double deviation(double) const { return 0; }
};

// Beyond the ends, linear holds the nearest value and all others go on with their end piece. Nodes
// need not be sorted. OMEN_INVALID_DATA where two nodes have one x, or anything is not finite; a
// single node is a constant.
std::unique_ptr<Curve> make_curve(CurveMethod method, std::vector<double> x, std::vector<double> y);

// Pieces between sorted nodes: y + a u + b u^2 + c u^3 from the node to the left. Many questions
// are answered in the order in which they come.
class PiecewiseCubic final : public Curve {
 public:
  PiecewiseCubic(std::vector<double> x, std::vector<double> y, const std::vector<double>& slopes);
  double at(double x) const override;
  void at(const std::vector<double>& x, std::vector<double>& out) const;

 private:
  std::size_t piece_of(double x) const;
  double value(std::size_t piece, double x) const;

  struct Piece {
    double y, slope, square, cube;
  };
  std::vector<double> x_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> start_;  // for each cell of a uniform grid, the first piece in it
  double cells_per_x_ = 0;
};

// Slopes that keep monotone data monotone (doi:10.1137/0905021), with one-sided ends.
std::vector<double> pchip_slopes(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace omen::interference
