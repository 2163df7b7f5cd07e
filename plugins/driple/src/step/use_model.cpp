// SPDX-License-Identifier: Apache-2.0
// Least absolute deviations for the start of a job, a logistic curve for what follows.
#include "step/use_model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <omen/learn/errors.hpp>

#include "step/job_costs.hpp"

namespace omen::driple {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

constexpr int kRounds = 50;
constexpr double kLeastSeconds = 1;     // s; what is off by less counts alike
constexpr double kRidge = 1e-3;         // keeps the logits of rows that can be told apart finite
constexpr double kLargestMove = 3;      // of a weight in one round
constexpr double kUnlikeDevice = 0.02;  // as for steps
constexpr Index kStartTerms = 2, kBusyTerms = 3;

// Of the second and third: microseconds for each kernel, and how many there are.
Vector busy_terms(const UseRow& row) {
  Vector terms(kBusyTerms);
  const double kernels = std::max(row.kernels, 1.0);
  terms << 1, std::log(std::max(1e6 * row.step / kernels, 1e-3)), std::log(kernels);
  return terms;
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

// Jobs whose plateau was cut in two instead say nothing of their start, so outliers count little.
Vector fitted_start(const std::vector<UseRow>& rows) {
  Vector found = Vector::Zero(kStartTerms);
  for (int round = 0; round < kRounds; ++round) {
    Matrix squares = kRidge * Matrix::Identity(kStartTerms, kStartTerms);
    Vector sums = Vector::Zero(kStartTerms);
    for (const UseRow& row : rows) {
      const Eigen::Vector2d terms(1, row.kernels);
      const double seconds = row.idle * row.steps * row.step;
      const double off = round == 0 ? 0 : std::abs(seconds - terms.dot(found));
      const double weight =
          1 / std::max(off, round == 0 ? std::max(seconds, kLeastSeconds) : kLeastSeconds);
      squares += weight * terms * terms.transpose();
      sums += weight * seconds * terms;
    }
    found = Eigen::LDLT<Eigen::MatrixXd>(squares).solve(sums).cwiseMax(0);
  }
  return found;
}

// Newton's method; shares between 0 and 1 are answers too.
Vector fitted_busy(const std::vector<UseRow>& rows) {
  Vector found = Vector::Zero(kBusyTerms);
  for (int round = 0; round < kRounds; ++round) {
    Vector slope = -kRidge * found;
    Matrix curve = kRidge * Matrix::Identity(kBusyTerms, kBusyTerms);
    for (const UseRow& row : rows) {
      const Vector terms = busy_terms(row);
      const double said = logistic(terms.dot(found));
      const double steady = std::clamp(row.peak / std::max(1 - row.idle, 1e-3), 0.0, 1.0);
      slope += (steady - said) * terms;
      curve += std::max(said * (1 - said), 1e-6) * terms * terms.transpose();
    }
    Vector move = Eigen::LDLT<Eigen::MatrixXd>(curve).solve(slope);
    const double largest = move.cwiseAbs().maxCoeff();
    if (largest > kLargestMove) move *= kLargestMove / largest;
    found += move;
  }
  return found;
}

}  // namespace

void UseModel::fit(const std::vector<UseRow>& rows) {
  start_ = fitted_start(rows);
  busy_ = fitted_busy(rows);
  std::map<std::array<double, kDeviceFeatures>, bool> distinct;
  frameworks_.clear();
  for (const UseRow& row : rows) {
    distinct[device_features(row.device)] = true;
    if (!row.framework.empty()) frameworks_.insert(row.framework);
  }
  devices_.resize(static_cast<Index>(distinct.size()), static_cast<Index>(kDeviceFeatures));
  Index at = 0;
  for (const auto& [features, unused] : distinct)
    devices_.row(at++) =
        Eigen::Map<const Eigen::RowVectorXd>(features.data(), static_cast<Index>(kDeviceFeatures));
}

UseShares UseModel::ask(const UseRow& row) const {
  UseShares shares;
  const double start = start_[0] + start_[1] * row.kernels, work = row.steps * row.step;
  shares.idle = start + work > 0 ? start / (start + work) : 0;
  shares.burst = 1 - shares.idle;
  shares.peak = shares.burst * logistic(busy_terms(row).dot(busy_));
  const auto features = device_features(row.device);
  const Eigen::Map<const Eigen::RowVectorXd> here(features.data(),
                                                  static_cast<Index>(kDeviceFeatures));
  const bool measured =
      devices_.rows() > 0 &&
      (devices_.rowwise() - here).cwiseAbs().rowwise().maxCoeff().minCoeff() <= kUnlikeDevice;
  const bool known_framework =
      row.framework.empty() || frameworks_.empty() || frameworks_.count(row.framework) > 0;
  shares.extrapolates = !measured || !known_framework;
  return shares;
}

void UseModel::save(learn::StateWriter& out) const {
  out.put_numbers("use.start", start_);
  out.put_numbers("use.busy", busy_);
  out.put_matrix("use.devices", devices_);
  out.put_strings("use.frameworks", {frameworks_.begin(), frameworks_.end()});
}

void UseModel::load(const learn::StateReader& in) {
  start_ = in.numbers("use.start", kStartTerms);
  busy_ = in.numbers("use.busy", kBusyTerms);
  if (!start_.allFinite() || !busy_.allFinite() || start_.minCoeff() < 0)
    learn::throw_bad_data("the model holds a bad weight of a GPU's use", "Train it again.");
  devices_ = in.matrix("use.devices", -1, static_cast<Index>(kDeviceFeatures));
  const std::vector<std::string> names = in.strings("use.frameworks");
  frameworks_ = {names.begin(), names.end()};
}

}  // namespace omen::driple
