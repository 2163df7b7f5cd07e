// SPDX-License-Identifier: Apache-2.0
// One Cholesky factorisation answers for new rows and for each row without itself.
#include "omen/learn/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <utility>

#include "omen/learn/errors.hpp"

namespace omen::learn {

// Leaving one row out needs no second factorisation (doi:10.7551/mitpress/3206.001.0001, eq. 5.12).
Opinions GaussianProcess::fit(const Blocks& x, const Matrix& y, const Vector& noise) {
  rows_ = x;
  // A model keeps its rows in single precision; what it learns fits them as they are kept.
  for (Block& block : rows_) block.values = block.values.cast<float>().cast<double>().eval();
  noise_ = scale_ * noise;
  const Vector precision = noise.cwiseInverse();
  mean_ = y.transpose() * precision / precision.sum();
  invert();
  const Matrix centred = y.rowwise() - mean_.transpose();
  weights_ = inverse_ * centred;
  const auto answers = static_cast<double>(y.cols()), rows = static_cast<double>(y.rows());
  log_likelihood_ = -0.5 * centred.cwiseProduct(weights_).sum() -
                    0.5 * answers * (log_determinant_ + rows * std::log(2 * M_PI));
  const Vector own = inverse_.diagonal();
  Opinions others;
  others.mean = y - own.cwiseInverse().asDiagonal() * weights_;
  others.variance = (own.cwiseInverse() - noise_).cwiseMax(0);
  return others;
}

void GaussianProcess::invert() {
  Matrix k = kernel_.between(rows_, rows_);
  k.diagonal() += noise_;
  const Eigen::LLT<Eigen::MatrixXd> factor(k);
  inverse_ = factor.solve(Eigen::MatrixXd::Identity(k.rows(), k.rows()));
  log_determinant_ = 2 * factor.matrixLLT().diagonal().array().log().sum();
}

Opinions GaussianProcess::predict(const Blocks& x) const {
  const Matrix k = kernel_.between(x, rows_);
  Opinions said;
  said.mean = (k * weights_).rowwise() + mean_.transpose();
  const Vector known = (k * inverse_).cwiseProduct(k).rowwise().sum();
  said.variance = (kernel_.own(x) - known).cwiseMax(0);
  return said;
}

void GaussianProcess::save(StateWriter& out, const std::string& prefix) const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    out.put_floats(prefix + ".rows." + std::to_string(i), rows_[i].values);
  out.put_matrix(prefix + ".weights", weights_);
  out.put_numbers(prefix + ".noise", noise_);
  out.put_numbers(prefix + ".mean", mean_);
}

void GaussianProcess::load(const StateReader& in, const std::string& prefix,
                           const std::vector<BlockShape>& layout, Index answers) {
  noise_ = in.numbers(prefix + ".noise");
  mean_ = in.numbers(prefix + ".mean", answers);
  weights_ = in.matrix(prefix + ".weights", noise_.size(), answers);
  if (!(noise_.array() > 0).all())
    throw_bad_data("the model's '" + prefix + "' has no valid noise", "train the model again");
  rows_.clear();
  for (const BlockShape& block : layout) {
    const std::string name = prefix + ".rows." + std::to_string(rows_.size());
    rows_.push_back({block.name, in.floats(name, noise_.size(), block.columns)});
  }
  invert();
}

}  // namespace omen::learn
