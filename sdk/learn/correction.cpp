// SPDX-License-Identifier: Apache-2.0
// Residuals of measured rows, smoothed over rows that are like them.
#include "omen/learn/correction.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace omen::learn {
namespace {

Matrix stacked(const Matrix& above, const Matrix& below) {
  if (above.rows() == 0) return below;
  Matrix all(above.rows() + below.rows(), above.cols());
  all << above, below;
  return all;
}

// Degrees of freedom of the residuals, and rounds in which rows that are far off lose weight.
constexpr double kTails = 4;
constexpr int kRounds = 4;
// Rows that say how much noise there is; more of them say nothing new and cost their cube.
constexpr Index kMostJudged = 100;
constexpr Index kFewestJudged = 3;

// Variance of each row, given that all have the tails of a t distribution around what the others
// and itself say together.
Vector row_noise(const Matrix& kernel, const Vector& residuals, double noise) {
  Vector each = Vector::Constant(residuals.size(), noise);
  for (int round = 0; round < kRounds; ++round) {
    Eigen::MatrixXd with = kernel;
    with.diagonal() += each;
    const Vector off = residuals - kernel * Eigen::LLT<Eigen::MatrixXd>(with).solve(residuals);
    each = (noise * kTails + off.array().square()).matrix() / (kTails + 1);
  }
  return each;
}

// How likely each row is beside all others, as a sum of logarithms.
double left_out_likelihood(const Matrix& kernel, const Vector& residuals, double noise) {
  const Vector each = row_noise(kernel, residuals, noise);
  Eigen::MatrixXd with = kernel;
  with.diagonal() += each;
  const Eigen::MatrixXd inverse =
      Eigen::LLT<Eigen::MatrixXd>(with).solve(Eigen::MatrixXd::Identity(with.rows(), with.cols()));
  const Vector weights = inverse * residuals;
  double sum = 0;
  for (Index i = 0; i < residuals.size(); ++i) {
    const double off = weights[i] / inverse(i, i);
    const double variance = 1 / inverse(i, i) - each[i] + noise;
    sum -=
        0.5 * (kTails + 1) * std::log1p(off * off / variance / kTails) + 0.5 * std::log(variance);
  }
  return sum;
}

}  // namespace

Matrix Correction::kernel(const Matrix& a, const Matrix& b) const {
  Matrix k(a.rows(), b.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    const Vector distance = (b.rowwise() - a.row(i)).rowwise().norm();
    k.row(i) =
        (scales_.shared + scales_.near * (-distance / scales_.bandwidth).array().exp()).matrix();
  }
  return k;
}

double Correction::noise_of(const Vector& residuals) const {
  if (scales_.most_noise <= scales_.noise || residuals.size() < kFewestJudged) return scales_.noise;
  const Index count = std::min(residuals.size(), kMostJudged);
  Matrix rows(count, rows_.cols());
  Vector judged(count);
  for (Index i = 0; i < count; ++i) {
    const Index at = i * residuals.size() / count;
    rows.row(i) = rows_.row(at);
    judged[i] = residuals[at];
  }
  const Matrix between = kernel(rows, rows);
  double best = scales_.noise, likelihood = left_out_likelihood(between, judged, best);
  for (double noise = 2 * scales_.noise; noise <= scales_.most_noise; noise *= 2) {
    const double own = left_out_likelihood(between, judged, noise);
    if (own > likelihood) likelihood = own, best = noise;
  }
  return best;
}

void Correction::solve() {
  const Matrix k = kernel(rows_, rows_);
  weights_.resize(rows_.rows(), residuals_.cols());
  for (Index c = 0; c < residuals_.cols(); ++c) {
    const Vector residuals = residuals_.col(c);
    Eigen::MatrixXd with = k;
    if (scales_.most_noise > scales_.noise)
      with.diagonal() += row_noise(k, residuals, noise_of(residuals));
    else
      with.diagonal().array() += scales_.noise;
    weights_.col(c) = Eigen::LLT<Eigen::MatrixXd>(with).solve(residuals);
  }
}

void Correction::add(const Matrix& rows, const Matrix& residuals) {
  if (rows.rows() == 0) return;
  rows_ = stacked(rows_, rows);
  residuals_ = stacked(residuals_, residuals);
  solve();
}

Matrix Correction::of(const Matrix& rows) const {
  if (count() == 0) return Matrix::Zero(rows.rows(), residuals_.cols());
  return kernel(rows, rows_) * weights_;
}

void Correction::save(StateWriter& out, const std::string& name) const {
  out.put_matrix(name + ".rows", rows_);
  out.put_matrix(name + ".residuals", residuals_);
}

void Correction::load(const StateReader& in, const std::string& name, Index columns,
                      Index answers) {
  rows_ = in.matrix(name + ".rows", -1, columns);
  residuals_ = in.matrix(name + ".residuals", rows_.rows(), answers);
  if (rows_.rows() > 0) solve();
}

}  // namespace omen::learn
