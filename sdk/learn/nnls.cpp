// SPDX-License-Identifier: Apache-2.0
// The active set grows by the entry that helps most and shrinks where an entry would turn negative.
#include "omen/learn/nnls.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <limits>
#include <omen/error.hpp>
#include <vector>

namespace omen::learn {
namespace {

// Least squares over the chosen columns alone; 0 elsewhere.
Vector solve_chosen(const Matrix& a, const Vector& b, const std::vector<bool>& chosen) {
  std::vector<Index> columns;
  for (Index c = 0; c < a.cols(); ++c)
    if (chosen[static_cast<std::size_t>(c)]) columns.push_back(c);
  Vector weights = Vector::Zero(a.cols());
  if (columns.empty()) return weights;
  Eigen::MatrixXd part(a.rows(), static_cast<Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i)
    part.col(static_cast<Index>(i)) = a.col(columns[i]);
  const Vector solved = part.colPivHouseholderQr().solve(b);
  for (std::size_t i = 0; i < columns.size(); ++i)
    weights[columns[i]] = solved[static_cast<Index>(i)];
  return weights;
}

// The column outside the set along which the residual falls fastest; -1 where none falls.
Index most_helpful(const Vector& gradient, const std::vector<bool>& chosen, double tolerance) {
  Index best = -1;
  for (Index c = 0; c < gradient.size(); ++c) {
    if (chosen[static_cast<std::size_t>(c)] || gradient[c] <= tolerance) continue;
    if (best < 0 || gradient[c] > gradient[best]) best = c;
  }
  return best;
}

// Goes from `weights` towards `wanted` until an entry would turn negative, and lets go of that one.
void step_back(Vector& weights, const Vector& wanted, std::vector<bool>& chosen) {
  double step = 1;
  Index blocking = -1;
  for (Index c = 0; c < weights.size(); ++c) {
    if (!chosen[static_cast<std::size_t>(c)] || wanted[c] > 0) continue;
    const double share = weights[c] > 0 ? weights[c] / (weights[c] - wanted[c]) : 0;
    if (blocking >= 0 && share >= step) continue;
    step = share;
    blocking = c;
  }
  weights += step * (wanted - weights);
  weights[blocking] = 0;
  chosen[static_cast<std::size_t>(blocking)] = false;
}

bool all_positive(const Vector& weights, const std::vector<bool>& chosen) {
  for (Index c = 0; c < weights.size(); ++c)
    if (chosen[static_cast<std::size_t>(c)] && !(weights[c] > 0)) return false;
  return true;
}

}  // namespace

NonNegative non_negative_least_squares(const Matrix& a, const Vector& b) {
  if (a.rows() != b.size() || a.rows() == 0 || a.cols() == 0 || !a.allFinite() || !b.allFinite())
    throw Error(OMEN_INVALID_ARGUMENT, "least squares need as many rows as answers, all finite");
  const double tolerance = 10 * std::numeric_limits<double>::epsilon() *
                           a.cwiseAbs().colwise().sum().maxCoeff() * b.cwiseAbs().maxCoeff() *
                           static_cast<double>(std::max(a.rows(), a.cols()));
  std::vector<bool> chosen(static_cast<std::size_t>(a.cols()), false);
  Vector weights = Vector::Zero(a.cols());
  // Every round ends nearer to b; the bound is for rounding errors that would not let it end.
  for (Index round = 0; round < 3 * a.cols() + 30; ++round) {
    const Vector gradient = a.transpose() * (b - a * weights);
    const Index next = most_helpful(gradient, chosen, tolerance);
    if (next < 0) break;
    chosen[static_cast<std::size_t>(next)] = true;
    Vector wanted = solve_chosen(a, b, chosen);
    while (!all_positive(wanted, chosen)) {
      step_back(weights, wanted, chosen);
      wanted = solve_chosen(a, b, chosen);
    }
    weights = wanted;
  }
  return {weights, (a * weights - b).norm()};
}

}  // namespace omen::learn
