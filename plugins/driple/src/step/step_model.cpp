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

// In these units, before anything is known: launches of frameworks and of servers, and passes.
constexpr double kLaunchUnit = 1e-6, kPassUnit = 1e-3;
constexpr double kUsualLaunch = 3, kUsualCaptured = 1, kUsualPass = 1;
// Rows that a prior weight of 1 counts for. Operators were measured, so their sums are trusted;
// convolutions and updates are bounds, of which frameworks reach a share that jobs tell.
constexpr double kPriorRows = 2, kTrustedRows = 1000;
constexpr double kNoise = 4e-4;  // of a measured step: 2 %
// An interval without any measured job: what operators alone are off by.
constexpr double kBlindHalfWidth = 0.35;
// Observations of one device: some of what is off is off for all of its jobs, more for jobs that
// are like each other. Steps are exact; scattered kernels are not, and how little each says of the
// others is estimated from them.
constexpr learn::CorrectionScales kObserved = {0.05, 0.1, 2e-3, 1.5, 0.6};
// Variance of the process, as a part of the most, from which on a row is unlike all measured ones.
constexpr double kUnlike = 0.75, kFarOperators = 0.5, kFarDevice = 0.02;
constexpr double kWiden = 1.5;

// What is off is off for jobs like it on cards of like power, then on one card.
learn::Kernel residual_kernel() {
  using learn::Kernel;
  return 0.02 * Kernel::matern("job", 0.6) +
         0.06 * (Kernel::matern("power", 0.4) * Kernel::matern("job", 0.6)) +
         0.002 * Kernel::matern("job", 0.3) +
         0.02 * (Kernel::matern("device", 0.05) * Kernel::matern("job", 0.5)) +
         0.02 * Kernel::matern("power", 0.4);
}

bool is_served(const JobRow& row) {
  return row.costs.passes > 0;
}

// Columns of the terms of a step.
constexpr std::size_t kLaunches = kPartCount, kPasses = kPartCount + 1;

std::array<double, kPartCount + 2> terms_of(const JobRow& row) {
  std::array<double, kPartCount + 2> terms{};
  std::copy(row.costs.seconds.begin(), row.costs.seconds.end(), terms.begin());
  terms[kLaunches] = (is_served(row) ? row.costs.captured : row.costs.kernels) * kLaunchUnit;
  terms[kPasses] = row.costs.passes * kPassUnit;
  return terms;
}

struct Prior {
  double weight = 1, rows = kPriorRows;
};
Prior prior_of(std::size_t term, bool served) {
  if (term == kPasses) return {kUsualPass, kPriorRows};
  if (term == kLaunches) return {served ? kUsualCaptured : kUsualLaunch, kPriorRows};
  const auto part = static_cast<Part>(term);
  const bool bound =
      part == Part::conv_winograd || part == Part::conv_direct || part == Part::update;
  return {1, bound || served ? kPriorRows : kTrustedRows};
}

// Rows of servers count alike for every shape, and outliers of these little: each by the inverse of
// what it is off by, as in doi:10.1080/03610917708812083.
constexpr int kReweighings = 6;
constexpr double kLeastOff = 0.1;

Vector shape_weights(const std::vector<const JobRow*>& rows, bool served) {
  Vector weights = Vector::Ones(static_cast<Index>(rows.size()));
  if (!served) return weights;
  std::map<std::int32_t, double> count;
  for (const JobRow* row : rows) ++count[row->group];
  const double each = static_cast<double>(rows.size()) / static_cast<double>(count.size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    weights[static_cast<Index>(r)] = each / count[rows[r]->group];
  return weights;
}

// Non-negative, with a prior weight for each term.
std::array<double, kPartCount + 2> fitted_weights(const std::vector<const JobRow*>& rows,
                                                  bool served) {
  constexpr auto kTerms = static_cast<Index>(kPartCount + 2);
  const auto count = static_cast<Index>(rows.size());
  Matrix relative(count, kTerms);
  for (Index r = 0; r < count; ++r) {
    const JobRow& row = *rows[static_cast<std::size_t>(r)];
    const auto terms = terms_of(row);
    for (Index t = 0; t < kTerms; ++t)
      relative(r, t) = terms[static_cast<std::size_t>(t)] / row.seconds;
  }
  Matrix a = Matrix::Zero(count + kTerms, kTerms);
  Vector b(a.rows());
  for (Index t = 0; t < kTerms; ++t) {
    const Prior prior = prior_of(static_cast<std::size_t>(t), served);
    b[count + t] = std::sqrt(prior.rows) / 2;
    a(count + t, t) = b[count + t] / prior.weight;
  }
  const Vector shares = shape_weights(rows, served);
  Vector trust = shares.cwiseSqrt(), found;
  for (int round = 0; round <= (served ? kReweighings : 0); ++round) {
    b.head(count) = trust;
    a.topRows(count) = trust.asDiagonal() * relative;
    found = learn::non_negative_least_squares(a, b).weights;
    const Eigen::ArrayXd said = (relative * found).array().max(1e-6);
    trust = (shares.array() / (said.log().abs().max(kLeastOff) * said.sqrt())).sqrt().matrix();
  }
  std::array<double, kPartCount + 2> weights{};
  for (Index t = 0; t < kTerms; ++t) weights[static_cast<std::size_t>(t)] = found[t];
  return weights;
}

std::vector<JobRow> rows_at(const std::vector<JobRow>& rows, const std::vector<Index>& chosen) {
  std::vector<JobRow> some;
  for (const Index at : chosen) some.push_back(rows[static_cast<std::size_t>(at)]);
  return some;
}

}  // namespace

const StepModel::Weights& StepModel::weights_for(const JobRow& row) const {
  return is_served(row) ? served_ : stepwise_;
}

// A launch cost that was measured on the host comes before the one that was learnt.
double StepModel::launch_seconds(const JobRow& row) const {
  if (row.device.launch > 0 && !is_served(row)) return row.device.launch * row.costs.kernels;
  return weights_for(row)[kLaunches] * terms_of(row)[kLaunches];
}

Vector StepModel::base(const std::vector<JobRow>& rows) const {
  Vector seconds(static_cast<Index>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto terms = terms_of(rows[r]);
    const Weights& weights = weights_for(rows[r]);
    double sum = launch_seconds(rows[r]) + weights[kPasses] * terms[kPasses];
    for (std::size_t part = 0; part < kPartCount; ++part) sum += weights[part] * terms[part];
    seconds[static_cast<Index>(r)] = sum;
  }
  return seconds;
}

learn::Blocks StepModel::blocks(const std::vector<JobRow>& rows) const {
  Matrix job(static_cast<Index>(rows.size()), static_cast<Index>(kJobFeatures));
  Matrix device(static_cast<Index>(rows.size()), static_cast<Index>(kDeviceFeatures));
  Matrix power(static_cast<Index>(rows.size()), 1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto of_job = job_features(rows[r].costs);
    const auto of_device = device_features(rows[r].device);
    job.row(static_cast<Index>(r)) =
        Eigen::Map<const Eigen::RowVectorXd>(of_job.data(), static_cast<Index>(kJobFeatures));
    device.row(static_cast<Index>(r)) =
        Eigen::Map<const Eigen::RowVectorXd>(of_device.data(), static_cast<Index>(kDeviceFeatures));
    power(static_cast<Index>(r), 0) = power_feature(rows[r].device);
  }
  return {{"job", std::move(job)}, {"device", std::move(device)}, {"power", std::move(power)}};
}

void StepModel::fit_base(const std::vector<JobRow>& rows) {
  for (const bool served : {false, true}) {
    std::vector<const JobRow*> own;
    for (const JobRow& row : rows)
      if (is_served(row) == served) own.push_back(&row);
    (served ? served_ : stepwise_) = fitted_weights(own, served);
  }
}

void StepModel::fit_residuals(const std::vector<JobRow>& all) {
  std::vector<JobRow> rows;
  for (const JobRow& row : all)
    if (!is_served(row)) rows.push_back(row);
  process_.reset();
  if (rows.empty()) return;
  const Vector said = base(rows);
  Matrix off(static_cast<Index>(rows.size()), 1);
  for (Index r = 0; r < off.rows(); ++r)
    off(r, 0) = std::log(rows[static_cast<std::size_t>(r)].seconds / said[r]);
  process_ = std::make_unique<learn::GaussianProcess>(residual_kernel(), kNoise);
  process_->fit(blocks(rows), off, Vector::Ones(off.rows()));
}

learn::Opinions StepModel::residuals(const std::vector<JobRow>& rows) const {
  const learn::Blocks x = blocks(rows);
  learn::Opinions opinion{Matrix::Zero(static_cast<Index>(rows.size()), 1),
                          residual_kernel().own(x)};
  if (!process_) return opinion;
  const learn::Opinions learnt = process_->predict(x);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (is_served(rows[r])) continue;
    opinion.mean(static_cast<Index>(r), 0) = learnt.mean(static_cast<Index>(r), 0);
    opinion.variance[static_cast<Index>(r)] = learnt.variance[static_cast<Index>(r)];
  }
  return opinion;
}

void StepModel::measure_intervals(const std::vector<JobRow>& rows, const StepOptions& options) {
  std::vector<std::int32_t> groups;
  for (const JobRow& row : rows) groups.push_back(row.group);
  const auto count = static_cast<Index>(rows.size());
  const learn::Folds folds = learn::make_folds(count, groups, options.folds, options.seed);
  Vector said = Vector::Constant(count, learn::kUnknown), served = said;
  Vector truth(count), variance(count);
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
      (is_served(asked[i]) ? served : said)[out[i]] = std::log(held_base[at]) + opinion.mean(at, 0);
      variance[out[i]] = opinion.variance[at];
    }
  }
  quantiles_ = learn::ConditionalQuantiles(said, truth, variance, 3);
  served_quantiles_ = learn::ResidualQuantiles(served, truth);
}

void StepModel::keep_devices(const std::vector<JobRow>& rows) {
  std::map<std::array<double, kDeviceFeatures>, bool> distinct;
  for (const JobRow& row : rows) distinct[device_features(row.device)] = true;
  devices_.resize(static_cast<Index>(distinct.size()), static_cast<Index>(kDeviceFeatures));
  Index at = 0;
  for (const auto& [features, unused] : distinct)
    devices_.row(at++) =
        Eigen::Map<const Eigen::RowVectorXd>(features.data(), static_cast<Index>(kDeviceFeatures));
}

void StepModel::fit(const std::vector<JobRow>& rows, const StepOptions& options) {
  measure_intervals(rows, options);
  fit_base(rows);
  fit_residuals(rows);
  corrections_.clear();
  keep_devices(rows);
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
  const learn::Opinions opinion = residuals(rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto at = static_cast<Index>(r);
    const JobRow& row = rows[r];
    double off = opinion.mean(at, 0);
    StepAnswer& answer = answers[r];
    const auto corrected = corrections_.find(correction_key(row));
    if (corrected != corrections_.end()) off += corrected->second.of(x[0].values.row(at))(0, 0);
    answer.seconds = std::max(said[at] * std::exp(off), row.costs.bound);
    answer.launch = launch_seconds(row) * answer.seconds / said[at];
    double nearest = devices_.rows() == 0 ? 1 : 1e9;
    for (Index d = 0; d < devices_.rows(); ++d)
      nearest = std::min(nearest, (devices_.row(d) - x[1].values.row(at)).cwiseAbs().maxCoeff());
    const bool measured_here = corrected != corrections_.end();
    answer.extrapolates = (nearest > kFarDevice && !measured_here) ||
                          (!is_served(row) && opinion.variance[at] > kUnlike * most[at]) ||
                          row.costs.beyond > kFarOperators;
    const double half = is_served(row) ? served_quantiles_.half_width(level)
                                       : quantiles_.half_width(level, opinion.variance[at]);
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
    const Matrix told = residuals(own).mean;
    Matrix off(said.size(), 1);
    for (Index r = 0; r < said.size(); ++r)
      off(r, 0) = std::log(own[static_cast<std::size_t>(r)].seconds / said[r]) - told(r, 0);
    next.try_emplace(key, learn::Correction(kObserved)).first->second.add(x[0].values, off);
  }
  corrections_ = std::move(next);
}

void StepModel::save(learn::StateWriter& out) const {
  out.put_numbers("jobs.weights", Eigen::Map<const Vector>(stepwise_.data(), kBaseTerms));
  out.put_numbers("jobs.served", Eigen::Map<const Vector>(served_.data(), kBaseTerms));
  out.put_integers("jobs.process", {process_ ? 1 : 0});
  if (process_) {
    process_->save(out, "jobs.process");
    quantiles_.save(out, "jobs.quantiles");
  }
  const std::vector<double>& sorted = served_quantiles_.sorted();
  out.put_numbers("jobs.served_residuals",
                  Eigen::Map<const Vector>(sorted.data(), static_cast<Index>(sorted.size())));
  out.put_matrix("jobs.devices", devices_);
  std::vector<std::string> keys;
  for (const auto& [key, correction] : corrections_) {
    correction.save(out, "jobs.correction." + std::to_string(keys.size()));
    keys.push_back(key);
  }
  out.put_strings("jobs.corrected", keys);
}

void StepModel::load(const learn::StateReader& in) {
  const auto read_weights = [&](const char* name, Weights& weights) {
    const Vector found = in.numbers(name, static_cast<Index>(kBaseTerms));
    for (std::size_t t = 0; t < kBaseTerms; ++t) {
      weights[t] = found[static_cast<Index>(t)];
      if (!std::isfinite(weights[t]) || weights[t] < 0)
        learn::throw_bad_data("the model holds a bad weight", "Train it again.");
    }
  };
  read_weights("jobs.weights", stepwise_);
  read_weights("jobs.served", served_);
  if (in.integers("jobs.process") == std::vector<std::int64_t>{1}) {
    process_ = std::make_unique<learn::GaussianProcess>(residual_kernel(), kNoise);
    process_->load(in, "jobs.process",
                   {{"job", static_cast<Index>(kJobFeatures)},
                    {"device", static_cast<Index>(kDeviceFeatures)},
                    {"power", 1}},
                   1);
    quantiles_.load(in, "jobs.quantiles");
  }
  const Vector sorted = in.numbers("jobs.served_residuals");
  served_quantiles_ =
      learn::ResidualQuantiles(std::vector<double>(sorted.data(), sorted.data() + sorted.size()));
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
