// SPDX-License-Identifier: Apache-2.0
// One Cholesky factorisation; distances by matrix products.
#include "cost/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace omen::loadbalance::cost {
namespace {

// Matern 3/2 of the mean squared difference over the columns.
Matrix matern(const Matrix& a, const Matrix& b, double length) {
  if (a.cols() == 0) return Matrix::Ones(a.rows(), b.rows());
  Matrix squared = -2 * a * b.transpose();
  squared.colwise() += a.rowwise().squaredNorm();
  squared.rowwise() += b.rowwise().squaredNorm().transpose();
  const double scale = 3 / (length * length * static_cast<double>(a.cols()));
  const Matrix r = (squared.array().max(0) * scale).sqrt().matrix();
  return ((1 + r.array()) * (-r.array()).exp()).matrix();
}

}  // namespace

Matrix GaussianProcess::kernel(const std::array<Matrix, kBlocks>& a,
                               const std::array<Matrix, kBlocks>& b) const {
  Matrix code = scales_.ratios * matern(a[kRatios], b[kRatios], scales_.code_length) +
                scales_.counts * matern(a[kCounts], b[kCounts], scales_.code_length);
  if (a[kGreweBlock].cols() > 0)
    code += scales_.grewe * matern(a[kGreweBlock], b[kGreweBlock], scales_.code_length);
  code.array() += scales_.launch;
  return code.cwiseProduct(matern(a[kLaunch], b[kLaunch], scales_.launch_length));
}

double GaussianProcess::amplitude() const {
  const double grewe = rows_[kGreweBlock].cols() > 0 ? scales_.grewe : 0;
  return scales_.ratios + scales_.counts + grewe + scales_.launch;
}

// Leaving one row out needs no second factorisation (doi:10.7551/mitpress/3206.001.0001, eq. 5.12).
Opinions GaussianProcess::fit(const Encoded& x, const Matrix& y, const Vector& noise) {
  // A model keeps its rows in single precision; what it learns fits them as they are kept.
  for (std::size_t block = 0; block < kBlocks; ++block)
    rows_[block] = x.blocks[block].cast<float>().cast<double>();
  noise_ = scales_.noise * noise;
  const Vector precision = noise.cwiseInverse();
  mean_ = y.transpose() * precision / precision.sum();
  invert();
  weights_ = inverse_ * (y.rowwise() - mean_.transpose());
  const Vector own = inverse_.diagonal();
  Opinions others;
  others.mean = y - own.cwiseInverse().asDiagonal() * weights_;
  others.variance = (own.cwiseInverse() - noise_).cwiseMax(0);
  return others;
}

void GaussianProcess::invert() {
  Matrix k = kernel(rows_, rows_);
  k.diagonal() += noise_;
  inverse_ = Eigen::LLT<Eigen::MatrixXd>(k).solve(Eigen::MatrixXd::Identity(k.rows(), k.rows()));
}

Opinions GaussianProcess::predict(const Encoded& x) const {
  const Matrix k = kernel(x.blocks, rows_);
  Opinions said;
  said.mean = (k * weights_).rowwise() + mean_.transpose();
  const Vector known = (k * inverse_).cwiseProduct(k).rowwise().sum();
  said.variance = (amplitude() - known.array()).cwiseMax(0).matrix();
  return said;
}

void GaussianProcess::save(ArtifactWriter& out, const std::string& prefix) const {
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> values =
        rows_[block].cast<float>();
    out.put(prefix + ".rows." + std::to_string(block),
            std::vector<float>(values.data(), values.data() + values.size()),
            {values.rows(), values.cols()});
  }
  out.put(prefix + ".weights",
          std::vector<double>(weights_.data(), weights_.data() + weights_.size()),
          {weights_.rows(), weights_.cols()});
  out.put(prefix + ".noise", std::vector<double>(noise_.data(), noise_.data() + noise_.size()));
  out.put(prefix + ".mean", std::vector<double>(mean_.data(), mean_.data() + mean_.size()));
}

void GaussianProcess::load(const ArtifactReader& in, const std::string& prefix,
                           const KernelEncoder& encoder, Index answers) {
  const std::vector<double> weights = in.get<double>(prefix + ".weights");
  const std::vector<double> noise = in.get<double>(prefix + ".noise");
  const std::vector<double> mean = in.get<double>(prefix + ".mean");
  const auto damaged = [&] {
    return Error(OMEN_INVALID_DATA, "the model's '" + prefix + "' has the wrong size",
                 "Train the model again.");
  };
  const auto columns = static_cast<std::size_t>(answers);
  const std::size_t count = noise.size();
  if (mean.size() != columns || weights.size() != count * columns) throw damaged();
  if (!std::all_of(noise.begin(), noise.end(), [](double n) { return n > 0; })) throw damaged();
  const auto rows = static_cast<Index>(count);
  mean_ = Eigen::Map<const Vector>(mean.data(), answers);
  noise_ = Eigen::Map<const Vector>(noise.data(), rows);
  weights_ = Eigen::Map<const Matrix>(weights.data(), rows, answers);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::vector<float> values = in.get<float>(prefix + ".rows." + std::to_string(block));
    const Index width = encoder.block_width(static_cast<Block>(block));
    if (values.size() != count * static_cast<std::size_t>(width)) throw damaged();
    using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    rows_[block] = Eigen::Map<const Floats>(values.data(), rows, width).cast<double>();
  }
  invert();
}

}  // namespace omen::loadbalance::cost
