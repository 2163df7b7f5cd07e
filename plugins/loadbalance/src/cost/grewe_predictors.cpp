// SPDX-License-Identifier: Apache-2.0
// A tree and a line on Grewe's features.
#include "cost/grewe_predictors.hpp"

#include <Eigen/QR>
#include <cmath>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/errors.hpp>

#include "cost/answer_table.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr Index kFeatures = 4;

bool has_share(const KernelRow& row) {
  return std::isfinite(row.share) || (row.t_cpu_ms > 0 && row.t_gpu_ms > 0);
}

double measured_share(const KernelRow& row) {
  if (std::isfinite(row.share)) return row.share;
  return 100 * row.t_gpu_ms / (row.t_cpu_ms + row.t_gpu_ms);
}

std::size_t nearest_mark(double share) {
  return static_cast<std::size_t>(std::clamp(std::floor(share / 25 + 0.5), 0.0, 4.0));
}

}  // namespace

std::optional<Vector> grewe_features(const KernelRow& row) {
  const double mem = std::max(row.grewe[kMem], 1.0);
  Vector x(kFeatures);
  x << row.input_size / std::max(row.grewe[kComp] + row.grewe[kMem], 1.0),
      row.grewe[kCoalesced] / mem, row.grewe[kLocalmem] / mem * row.wgsize, row.grewe[kComp] / mem;
  if (!std::isfinite(row.grewe[kMem]) || !x.allFinite()) return std::nullopt;
  return x;
}

void GrewePredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  KernelRows rows = read_kernels(train, true, run);
  if (valid && valid.has("workloads")) append(rows, read_kernels(valid, true, run));
  std::vector<Vector> features;
  std::vector<double> shares;
  for (const KernelRow& row : rows.rows) {
    const auto x = grewe_features(row);
    if (!x || !has_share(row)) continue;
    features.push_back(*x);
    shares.push_back(measured_share(row));
  }
  if (features.empty())
    throw Error(OMEN_INVALID_DATA, "no row has Grewe's counts and a share",
                "Give the columns comp, mem, localmem, coalesced, wgsize and input_size.");
  Sample sample{Matrix(static_cast<Index>(features.size()), kFeatures),
                Eigen::Map<const Vector>(shares.data(), static_cast<Index>(shares.size()))};
  for (std::size_t i = 0; i < features.size(); ++i)
    sample.x.row(static_cast<Index>(i)) = features[i].transpose();
  learn(sample);
  fitted_ = true;
}

TableStream GrewePredictor::predict(const Dataset& in, const Run& run) {
  if (!fitted_) learn::throw_no_model(id());
  const KernelRows rows = read_kernels(in, false, run);
  std::vector<CostRow> answers;
  for (const KernelRow& row : rows.rows) {
    const auto x = grewe_features(row);
    answers.emplace_back();
    if (x)
      answers.back() = answer(*x);
    else
      answers.back().refusal = "Grewe's counts of this kernel are unknown";
  }
  AnswerColumns columns;
  columns.times = columns.intervals = false;
  return answer_table(rows, answers, columns);
}

void GrewePredictor::save(ArtifactWriter& out) const {
  if (!fitted_) learn::throw_no_model(id());
  out.put_meta("cost.component", id());
  save_state(out);
}

void GrewePredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta("cost.component"), id());
  load_state(in);
  fitted_ = true;
}

void TreePredictor::learn(const Sample& sample) {
  const learn::DecisionTreeOptions options{options_.depth, options_.least_leaf};
  Vector classes(sample.share.size()), devices(sample.share.size());
  for (Index i = 0; i < sample.share.size(); ++i) {
    classes[i] = static_cast<double>(nearest_mark(sample.share[i]));
    devices[i] = sample.share[i] < 50 ? 1 : 0;
  }
  share_.fit(sample.x, sample.share, 0, options);
  class_.fit(sample.x, classes, 5, options);
  device_.fit(sample.x, devices, 2, options);
}

CostRow TreePredictor::answer(const Vector& x) const {
  CostRow row;
  row.share = share_.predict(x)[0];
  const Vector classes = class_.predict(x), devices = device_.predict(x);
  for (Index c = 0; c < 5; ++c) row.classes[static_cast<std::size_t>(c)] = classes[c];
  for (Index c = 0; c < 2; ++c) row.devices[static_cast<std::size_t>(c)] = devices[c];
  return row;
}

void TreePredictor::save_state(ArtifactWriter& out) const {
  learn::ArtifactState state(out);
  share_.save(state, "tree.share");
  class_.save(state, "tree.class");
  device_.save(state, "tree.device");
}

void TreePredictor::load_state(const ArtifactReader& in) {
  const learn::ArtifactSource state(in);
  share_.load(state, "tree.share", kFeatures, 0);
  class_.load(state, "tree.class", kFeatures, 5);
  device_.load(state, "tree.device", kFeatures, 2);
}

void LinearPredictor::learn(const Sample& sample) {
  // Columns differ by many decades, so they are scaled before they are solved for.
  Matrix x(sample.x.rows(), kFeatures + 1);
  x << sample.x, Vector::Ones(sample.x.rows());
  Vector scale = x.colwise().norm().transpose();
  for (Index c = 0; c < scale.size(); ++c)
    if (scale[c] <= 0) scale[c] = 1;
  const Eigen::MatrixXd scaled = x * scale.cwiseInverse().asDiagonal();
  weights_ = scaled.completeOrthogonalDecomposition().solve(sample.share).cwiseQuotient(scale);
}

CostRow LinearPredictor::answer(const Vector& x) const {
  CostRow row;
  row.share = std::clamp(weights_.head(kFeatures).dot(x) + weights_[kFeatures], 0.0, 100.0);
  row.classes[nearest_mark(row.share)] = 1;
  row.devices[row.share < 50 ? 1 : 0] = 1;
  return row;
}

void LinearPredictor::save_state(ArtifactWriter& out) const {
  out.put("linear.weights",
          std::vector<double>(weights_.data(), weights_.data() + weights_.size()));
}

void LinearPredictor::load_state(const ArtifactReader& in) {
  const std::vector<double> weights = in.get<double>("linear.weights");
  if (weights.size() != static_cast<std::size_t>(kFeatures + 1))
    throw Error(OMEN_INVALID_DATA, "the model has " + std::to_string(weights.size()) + " weights",
                "Train the model again.");
  weights_ = Eigen::Map<const Vector>(weights.data(), kFeatures + 1);
}

}  // namespace omen::loadbalance::cost
