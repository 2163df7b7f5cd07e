// SPDX-License-Identifier: Apache-2.0
// Residuals of measured rows, smoothed over rows that are like them.
#include "omen/learn/correction.hpp"

#include <Eigen/Cholesky>
#include <cmath>

namespace omen::learn {
namespace {

Matrix stacked(const Matrix& above, const Matrix& below) {
  if (above.rows() == 0) return below;
  Matrix all(above.rows() + below.rows(), above.cols());
  all << above, below;
  return all;
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

void Correction::solve() {
  Matrix k = kernel(rows_, rows_);
  k.diagonal().array() += scales_.noise;
  weights_ = Eigen::LLT<Eigen::MatrixXd>(k).solve(residuals_);
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
