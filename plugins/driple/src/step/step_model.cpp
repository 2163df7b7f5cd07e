// SPDX-License-Identifier: Apache-2.0
// Non-negative weights of the parts, a Gaussian process over what they leave, and corrections.
#include "step/step_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <omen/learn/errors.hpp>
#include <omen/learn/folds.hpp>
#include <omen/learn/nnls.hpp>

namespace omen::driple {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

// Operators are trusted before anything is known of jobs, and a launch costs some microseconds.
constexpr double kLaunchUnit = 1e-6, kUsualLaunch = 3;
// Rows that a prior weight counts for.
constexpr double kPriorRows = 2;
constexpr double kNoise = 4e-4;  // of a measured step: 2 %
// An interval without any measured job: what operators alone are off by.
constexpr double kBlindHalfWidth = 0.35;
// Observations of one device: most of what is off is off for all of its jobs.
constexpr learn::CorrectionScales kObserved = {0.05, 0.03, 2e-3, 0.6};
// Variance of the process, as a part of the most, from which on a row is unlike all measured ones.
constexpr double kUnlike = 0.75, kFarOperators = 0.5, kFarDevice = 0.02;
constexpr double kWiden = 1.5;

learn::Kernel residual_kernel() {
  using learn::Kernel;
  return 0.02 * Kernel::matern("job", 0.6) + 0.01 * Kernel::matern("job", 0.12) +
         0.02 * (Kernel::matern("device", 0.05) * Kernel::matern("job", 0.5)) +
         0.01 * Kernel::matern("device", 0.3);
}

std::vector<JobRow> rows_at(const std::vector<JobRow>& rows, const std::vector<Index>& chosen) {
  std::vector<JobRow> some;
  for (const Index at : chosen) some.push_back(rows[static_cast<std::size_t>(at)]);
  return some;
}

}  // namespace

Matrix StepModel::terms(const std::vector<JobRow>& rows) const {
  Matrix a(static_cast<Index>(rows.size()), static_cast<Index>(kBaseTerms));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto row = static_cast<Index>(r);
    for (std::size_t part = 0; part < kPartCount; ++part)
      a(row, static_cast<Index>(part)) = rows[r].costs.seconds[part];
    a(row, static_cast<Index>(kPartCount)) = rows[r].costs.kernels * kLaunchUnit;
  }
  return a;
}

Vector StepModel::base(const std::vector<JobRow>& rows) const {
  const Matrix a = terms(rows);
  Vector seconds(a.rows());
  for (Index r = 0; r < a.rows(); ++r) {
    const JobRow& row = rows[static_cast<std::size_t>(r)];
    double busy = 0;
    for (std::size_t part = 0; part < kPartCount; ++part)
      busy += weights_[part] * a(r, static_cast<Index>(part));
    const double unit =
        row.device.launch > 0 ? row.device.launch / kLaunchUnit : weights_[kPartCount];
    seconds[r] = busy + unit * a(r, static_cast<Index>(kPartCount));
  }
  return seconds;
}

learn::Blocks StepModel::blocks(const std::vector<JobRow>& rows) const {
  Matrix job(static_cast<Index>(rows.size()), static_cast<Index>(kJobFeatures));
  Matrix device(static_cast<Index>(rows.size()), static_cast<Index>(kDeviceFeatures));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto of_job = job_features(rows[r].costs);
    const auto of_device = device_features(rows[r].device);
    job.row(static_cast<Index>(r)) =
        Eigen::Map<const Eigen::RowVectorXd>(of_job.data(), static_cast<Index>(kJobFeatures));
    device.row(static_cast<Index>(r)) =
        Eigen::Map<const Eigen::RowVectorXd>(of_device.data(), static_cast<Index>(kDeviceFeatures));
  }
  return {{"job", std::move(job)}, {"device", std::move(device)}};
}

void StepModel::fit_base(const std::vector<JobRow>& rows) {
  constexpr auto kTerms = static_cast<Index>(kBaseTerms);
  Matrix a(static_cast<Index>(rows.size()) + kTerms, kTerms);
  Vector b = Vector::Ones(a.rows());
  const Matrix seconds = terms(rows);
  for (Index r = 0; r < seconds.rows(); ++r)
    a.row(r) = seconds.row(r) / rows[static_cast<std::size_t>(r)].seconds;
  const double weight = std::sqrt(kPriorRows);
  a.bottomRows(kTerms) = Matrix::Identity(kTerms, kTerms) * (weight / 2);
  b.tail(kTerms).setConstant(weight / 2);
  a(a.rows() - 1, kTerms - 1) = weight / 2 / kUsualLaunch;
  const Vector found = learn::non_negative_least_squares(a, b).weights;
  for (std::size_t t = 0; t < kBaseTerms; ++t) weights_[t] = found[static_cast<Index>(t)];
}

void StepModel::fit_residuals(const std::vector<JobRow>& rows) {
  const Vector said = base(rows);
  Matrix off(static_cast<Index>(rows.size()), 1);
  for (Index r = 0; r < off.rows(); ++r)
    off(r, 0) = std::log(rows[static_cast<std::size_t>(r)].seconds / said[r]);
  process_ = std::make_unique<learn::GaussianProcess>(residual_kernel(), kNoise);
  process_->fit(blocks(rows), off, Vector::Ones(off.rows()));
}

learn::Opinions StepModel::residuals(const std::vector<JobRow>& rows) const {
  return process_->predict(blocks(rows));
}

void StepModel::fit(const std::vector<JobRow>& rows, const StepOptions& options) {
  std::vector<std::int32_t> groups;
  for (const JobRow& row : rows) groups.push_back(row.group);
  const auto count = static_cast<Index>(rows.size());
  const learn::Folds folds = learn::make_folds(count, groups, options.folds, options.seed);
  Vector said = Vector::Constant(count, learn::kUnknown), truth(count), variance(count);
  for (Index r = 0; r < count; ++r) truth[r] = std::log(rows[static_cast<std::size_t>(r)].seconds);
  for (int fold = 0; fold < folds.count; ++fold) {
    StepModel held;
    const std::vector<JobRow> train = rows_at(rows, folds.training_rows(fold));
    held.fit_base(train);
    held.fit_residuals(train);
    const std::vector<Index> out = folds.held_out_rows(fold);
    const std::vector<JobRow> asked = rows_at(rows, out);
    const Vector held_base = held.base(asked);
    const learn::Opinions opinion = held.residuals(asked);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = static_cast<Index>(i);
      said[out[i]] = std::log(held_base[at]) + opinion.mean(at, 0);
      variance[out[i]] = opinion.variance[at];
    }
  }
  quantiles_ = learn::ConditionalQuantiles(said, truth, variance, 3);
  fit_base(rows);
  fit_residuals(rows);
  corrections_.clear();
  std::map<std::array<double, kDeviceFeatures>, bool> distinct;
  for (const JobRow& row : rows) distinct[device_features(row.device)] = true;
  devices_.resize(static_cast<Index>(distinct.size()), static_cast<Index>(kDeviceFeatures));
  Index at = 0;
  for (const auto& [features, unused] : distinct)
    devices_.row(at++) =
        Eigen::Map<const Eigen::RowVectorXd>(features.data(), static_cast<Index>(kDeviceFeatures));
}

std::string StepModel::correction_key(const JobRow& row) const {
  std::string key = row.framework;
  for (const double feature : device_features(row.device)) {
    char bytes[sizeof feature];
    std::memcpy(bytes, &feature, sizeof feature);
    key.append(bytes, sizeof bytes);
  }
  return key;
}

std::vector<StepAnswer> StepModel::ask(const std::vector<JobRow>& rows, double level) const {
  std::vector<StepAnswer> answers(rows.size());
  if (rows.empty()) return answers;
  const Vector said = base(rows);
  const learn::Blocks x = blocks(rows);
  const Vector most = residual_kernel().own(x);
  learn::Opinions opinion{Matrix::Zero(said.size(), 1), most};
  if (process_) opinion = residuals(rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto at = static_cast<Index>(r);
    const JobRow& row = rows[r];
    double off = opinion.mean(at, 0);
    StepAnswer& answer = answers[r];
    const auto corrected = corrections_.find(correction_key(row));
    if (corrected != corrections_.end()) off += corrected->second.of(x[0].values.row(at))(0, 0);
    const double unit =
        row.device.launch > 0 ? row.device.launch / kLaunchUnit : weights_[kPartCount];
    answer.seconds = std::max(said[at] * std::exp(off), row.costs.bound);
    answer.launch = unit * row.costs.kernels * kLaunchUnit * answer.seconds / said[at];
    double nearest = devices_.rows() == 0 ? 1 : 1e9;
    for (Index d = 0; d < devices_.rows(); ++d)
      nearest = std::min(nearest, (devices_.row(d) - x[1].values.row(at)).cwiseAbs().maxCoeff());
    const bool measured_here = corrected != corrections_.end();
    answer.extrapolates = (nearest > kFarDevice && !measured_here) ||
                          opinion.variance[at] > kUnlike * most[at] ||
                          row.costs.beyond > kFarOperators;
    const double half = quantiles_.half_width(level, opinion.variance[at]);
    answer.half_width = std::isfinite(half) ? half : kBlindHalfWidth;
    if (answer.extrapolates) answer.half_width *= kWiden;
  }
  return answers;
}

void StepModel::observe(const std::vector<JobRow>& rows) {
  std::map<std::string, std::vector<JobRow>> parts;
  for (const JobRow& row : rows) parts[correction_key(row)].push_back(row);
  std::map<std::string, learn::Correction> next = corrections_;
  for (const auto& [key, own] : parts) {
    const Vector said = base(own);
    const learn::Blocks x = blocks(own);
    const Matrix told = process_ ? residuals(own).mean : Matrix::Zero(said.size(), 1);
    Matrix off(said.size(), 1);
    for (Index r = 0; r < said.size(); ++r)
      off(r, 0) = std::log(own[static_cast<std::size_t>(r)].seconds / said[r]) - told(r, 0);
    next.try_emplace(key, learn::Correction(kObserved)).first->second.add(x[0].values, off);
  }
  corrections_ = std::move(next);
}

void StepModel::save(learn::StateWriter& out) const {
  out.put_numbers("jobs.weights", Eigen::Map<const Vector>(weights_.data(), kBaseTerms));
  out.put_integers("jobs.process", {process_ ? 1 : 0});
  if (process_) {
    process_->save(out, "jobs.process");
    quantiles_.save(out, "jobs.quantiles");
  }
  out.put_matrix("jobs.devices", devices_);
  std::vector<std::string> keys;
  for (const auto& [key, correction] : corrections_) {
    correction.save(out, "jobs.correction." + std::to_string(keys.size()));
    keys.push_back(key);
  }
  out.put_strings("jobs.corrected", keys);
}

void StepModel::load(const learn::StateReader& in) {
  const Vector weights = in.numbers("jobs.weights", static_cast<Index>(kBaseTerms));
  for (std::size_t t = 0; t < kBaseTerms; ++t) {
    weights_[t] = weights[static_cast<Index>(t)];
    if (!std::isfinite(weights_[t]) || weights_[t] < 0)
      learn::throw_bad_data("the model holds a bad weight", "Train it again.");
  }
  if (in.integers("jobs.process") == std::vector<std::int64_t>{1}) {
    process_ = std::make_unique<learn::GaussianProcess>(residual_kernel(), kNoise);
    process_->load(in, "jobs.process",
                   {{"job", static_cast<Index>(kJobFeatures)},
                    {"device", static_cast<Index>(kDeviceFeatures)}},
                   1);
    quantiles_.load(in, "jobs.quantiles");
  }
  devices_ = in.matrix("jobs.devices", -1, static_cast<Index>(kDeviceFeatures));
  corrections_.clear();
  const std::vector<std::string> keys = in.strings("jobs.corrected");
  for (std::size_t k = 0; k < keys.size(); ++k) {
    learn::Correction correction(kObserved);
    correction.load(in, "jobs.correction." + std::to_string(k), static_cast<Index>(kJobFeatures),
                    1);
    corrections_.emplace(keys[k], std::move(correction));
  }
}

}  // namespace omen::driple
