// SPDX-License-Identifier: Apache-2.0
// By the singular values of the centred rows, which keeps digits that a covariance would lose.
#include "omen/learn/pca.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <omen/error.hpp>

namespace omen::learn {

void Pca::fit(const Matrix& x, Index count) {
  if (x.rows() < 2 || x.cols() < 1 || !x.allFinite())
    throw Error(OMEN_INVALID_ARGUMENT, "components need at least two rows of finite values");
  mean_ = x.colwise().mean().transpose();
  const Eigen::MatrixXd centred = x.rowwise() - mean_.transpose();
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(centred, Eigen::ComputeThinV);
  const Index all = svd.singularValues().size();
  const Index kept = count > 0 ? std::min(count, all) : all;
  components_ = svd.matrixV().leftCols(kept).transpose();
  for (Index i = 0; i < kept; ++i) {
    Index largest = 0;
    components_.row(i).cwiseAbs().maxCoeff(&largest);
    if (components_(i, largest) < 0) components_.row(i) *= -1;
  }
  const Vector variances =
      svd.singularValues().array().square() / static_cast<double>(x.rows() - 1);
  const double total = variances.sum();
  variance_ = variances.head(kept);
  share_ = total > 0 ? Vector(variance_ / total) : Vector::Zero(kept);
}

Matrix Pca::transform(const Matrix& x) const {
  return (x.rowwise() - mean_.transpose()) * components_.transpose();
}

Matrix Pca::restore(const Matrix& coordinates) const {
  return (coordinates * components_).rowwise() + mean_.transpose();
}

void Pca::save(StateWriter& out, const std::string& prefix) const {
  out.put_matrix(prefix + ".components", components_);
  out.put_matrix(prefix + ".mean", mean_.transpose());
  Matrix variance(2, variance_.size());
  variance << variance_.transpose(), share_.transpose();
  out.put_matrix(prefix + ".variance", variance);
}

void Pca::load(const StateReader& in, const std::string& prefix) {
  components_ = in.matrix(prefix + ".components");
  mean_ = in.matrix(prefix + ".mean", 1, components_.cols()).row(0).transpose();
  const Matrix variance = in.matrix(prefix + ".variance", 2, components_.rows());
  variance_ = variance.row(0).transpose();
  share_ = variance.row(1).transpose();
}

}  // namespace omen::learn
