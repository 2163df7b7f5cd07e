// SPDX-License-Identifier: Apache-2.0
// One Cholesky factorisation; distances by matrix products.
#include "cost/gaussian_process.hpp"

#include <Eigen/Cholesky>
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

void GaussianProcess::fit(const Encoded& x, const Vector& y, const Vector& noise) {
  rows_ = x.blocks;
  mean_ = y.cwiseQuotient(noise).sum() / noise.cwiseInverse().sum();
  Matrix k = kernel(rows_, rows_);
  k.diagonal() += scales_.noise * noise;
  weights_ = Eigen::LLT<Eigen::MatrixXd>(k).solve((y.array() - mean_).matrix());
}

Vector GaussianProcess::predict(const Encoded& x) const {
  return ((kernel(x.blocks, rows_) * weights_).array() + mean_).matrix();
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
          std::vector<double>(weights_.data(), weights_.data() + weights_.size()));
  out.put(prefix + ".mean", std::vector<double>{mean_});
}

void GaussianProcess::load(const ArtifactReader& in, const std::string& prefix,
                           const KernelEncoder& encoder) {
  const std::vector<double> weights = in.get<double>(prefix + ".weights");
  const std::vector<double> mean = in.get<double>(prefix + ".mean");
  const auto damaged = [&] {
    return Error(OMEN_INVALID_DATA, "the model's '" + prefix + "' has the wrong size",
                 "Train the model again.");
  };
  if (mean.size() != 1) throw damaged();
  mean_ = mean[0];
  weights_ = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::vector<float> values = in.get<float>(prefix + ".rows." + std::to_string(block));
    const Index width = encoder.block_width(static_cast<Block>(block));
    if (values.size() != weights.size() * static_cast<std::size_t>(width)) throw damaged();
    using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    rows_[block] = Eigen::Map<const Floats>(values.data(), weights_.size(), width).cast<double>();
  }
}

}  // namespace omen::loadbalance::cost
