// SPDX-License-Identifier: Apache-2.0
// Ensembles of boosted trees and a Gaussian process that vote.
#include "cost/machine_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/folds.hpp>
#include <set>

#include "cost/share_scale.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr double kInformedColumns = 0.6;  // of all, for each tree that also asks the process
constexpr double kKeptLaunch = 0.05;      // step of kept launches: a size to a factor of about two

double share_of(const KernelRow& row) {
  if (std::isfinite(row.share)) return std::clamp(row.share, 0.0, 100.0);
  return 100 * row.t_gpu_ms / (row.t_cpu_ms + row.t_gpu_ms);
}

// Programs with many rows count for less than their rows, for more than one row.
Vector row_weights(const KernelRows& rows) {
  std::map<std::int32_t, double> count;
  for (const KernelRow& row : rows.rows) count[row.group] += 1;
  Vector weights(static_cast<Index>(rows.rows.size()));
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    weights[static_cast<Index>(i)] = std::pow(count[rows.rows[i].group], -0.25);
  return weights / weights.mean();
}

// Of each row, for Density; where nobody said which rows are of one program, each is its own.
std::vector<std::int64_t> programs_of(const KernelRows& rows) {
  std::vector<std::int64_t> programs;
  for (const KernelRow& row : rows.rows) programs.push_back(row.group);
  if (std::set<std::int64_t>(programs.begin(), programs.end()).size() <= 1) programs.clear();
  return programs;
}

// Where rows of training lie, as a model keeps it. The process keeps rows as they are; a model
// without it can be given away, so nobody's sizes may be read from it.
Matrix kept_places(Matrix places, bool with_process) {
  if (with_process) return places;
  auto launches = places.rightCols(places.cols() - kPlaces).array();
  launches = (launches / kKeptLaunch).round() * kKeptLaunch;
  return places;
}

}  // namespace

// Columns of the process. Informed trees are told the first three, and how sure it is.
enum Said : Index { kShare, kRatio, kDevice, kTotal, kFirstClass, kSaid = kFirstClass + 5 };
constexpr Index kToldColumns = 4;

struct MachineModel::Targets {
  Vector share, ratio, total, classes, devices, weights;

  explicit Targets(const KernelRows& rows) : weights(row_weights(rows)) {
    const auto count = static_cast<Index>(rows.rows.size());
    share = ratio = total = classes = devices = Vector::Zero(count);
    for (Index i = 0; i < count; ++i) {
      const KernelRow& row = rows.rows[static_cast<std::size_t>(i)];
      share[i] = share_of(row);
      ratio[i] = logit_of_share(share[i]);
      classes[i] = class_of_share(share[i]);
      devices[i] = share[i] < 50 ? 1 : 0;
      if (!row.has_both_times()) continue;
      ratio[i] = std::log(row.t_gpu_ms / row.t_cpu_ms);
      total[i] = std::log(row.t_gpu_ms * row.t_cpu_ms);
      devices[i] = row.t_gpu_ms < row.t_cpu_ms ? 1 : 0;
    }
  }

  Matrix all() const {
    Matrix y = Matrix::Zero(share.size(), kSaid);
    y.col(kShare) = share;
    y.col(kRatio) = ratio;
    y.col(kDevice) = devices;
    y.col(kTotal) = total;
    for (Index i = 0; i < share.size(); ++i) y(i, kFirstClass + static_cast<Index>(classes[i])) = 1;
    return y;
  }
};

// Rows with what the process says about them: in training without having seen the row, so that the
// trees learn how far to trust it.
struct MachineModel::Inputs {
  const Encoded& x;
  learn::Opinions said;
  std::array<Matrix, 2> informed;  // all columns, few columns

  explicit Inputs(const Encoded& encoded) : x(encoded) {}
  Inputs(const Encoded& encoded, learn::Opinions opinions) : x(encoded), said(std::move(opinions)) {
    Matrix more(said.mean.rows(), kToldColumns);
    more << said.mean.leftCols(kToldColumns - 1), said.variance;
    for (std::size_t few = 0; few < 2; ++few) {
      const Matrix& own = few ? x.small : x.trees;
      informed[few].resize(own.rows(), own.cols() + more.cols());
      informed[few] << own, more;
    }
  }
};

namespace {

// With few columns a tree needs all of them.
learn::BoostedSettings informed_settings(learn::BoostedSettings trees, bool few) {
  trees.columns = few ? 1 : kInformedColumns;
  return trees;
}

learn::BoostedSettings class_settings(learn::BoostedSettings trees) {
  trees.rounds = std::max(1, trees.rounds / 2);
  return trees;
}

}  // namespace

MachineModel::Inputs MachineModel::fit_share(const Encoded& x, const Targets& y,
                                             const CostOptions& options, std::uint64_t seed,
                                             const Run& run) {
  with_process_ = options.with_process;
  share_.fit(x.trees, y.share, y.weights, 0, options.trees, seed, run);
  ratio_.fit(x.trees, y.ratio, y.weights, 0, options.trees, seed + 1, run);
  if (!with_process_) return Inputs(x);
  run.step(-1, "process");
  process_ = make_process(options.process, x.blocks[kGreweBlock].values.cols() > 0);
  Inputs in(x, process_->fit(x.blocks, y.all(), y.weights.cwiseInverse()));
  for (std::size_t few = 0; few < 2; ++few)
    informed_[few].share.fit(in.informed[few], y.share, y.weights, 0,
                             informed_settings(options.trees, few), seed + 6 + few, run);
  return in;
}

MachineModel::Inputs MachineModel::inputs(const Encoded& x) const {
  return with_process_ ? Inputs(x, process_->predict(x.blocks)) : Inputs(x);
}

// The mean of everybody's answer.
Vector MachineModel::predict_share(const Inputs& in) const {
  Vector sum = share_.predict(in.x.trees).col(0);
  const Vector ratio = ratio_.predict(in.x.trees).col(0);
  for (Index row = 0; row < sum.size(); ++row) sum[row] += share_of_logit(ratio[row]);
  sum /= 2;
  if (with_process_) {
    sum += in.said.mean.col(kShare);
    for (std::size_t few = 0; few < 2; ++few)
      sum += informed_[few].share.predict(in.informed[few]).col(0);
    sum /= 4;
  }
  return sum.cwiseMax(0).cwiseMin(100);
}

learn::LocalQuantiles MachineModel::held_out_residuals(const KernelRows& rows,
                                                       const KernelEncoder& encoder,
                                                       const CostOptions& options,
                                                       std::uint64_t seed, const Run& run) const {
  const Vector row_weight = row_weights(rows);
  std::vector<double> said, measured, programs, weights;
  std::vector<std::int32_t> groups;
  for (const KernelRow& row : rows.rows) groups.push_back(row.group);
  const learn::Folds folds =
      learn::make_folds(static_cast<Index>(groups.size()), groups, options.inner_folds, seed);
  for (int held = 0; held < folds.count; ++held) {
    run.step(static_cast<double>(held) / (2 * folds.count), "intervals");
    const KernelRows train = rows.subset(folds.training_rows(held));
    const auto held_rows = folds.held_out_rows(held);
    const KernelRows test = rows.subset(held_rows);
    MachineModel part;
    const Encoded seen = encoder.encode(train), asked = encoder.encode(test);
    part.fit_share(seen, Targets(train), options, seed, run);
    part.density_.fit(kept_places(seen.place, options.with_process), programs_of(train));
    const Vector answer = part.predict_share(part.inputs(asked)),
                 near = part.density_.groups_near(asked.place, kProgramsAlike);
    for (std::size_t i = 0; i < test.rows.size(); ++i) {
      said.push_back(answer[static_cast<Index>(i)]);
      measured.push_back(share_of(test.rows[i]));
      programs.push_back(near[static_cast<Index>(i)]);
      weights.push_back(row_weight[static_cast<Index>(held_rows[i])]);
    }
  }
  const auto held = static_cast<Index>(said.size());
  return {Eigen::Map<const Vector>(said.data(), held),
          Eigen::Map<const Vector>(measured.data(), held),
          Eigen::Map<const Vector>(programs.data(), held),
          Eigen::Map<const Vector>(weights.data(), held), options.interval_parts};
}

void MachineModel::fit(const KernelRows& rows, const KernelEncoder& encoder,
                       const CostOptions& options, std::uint64_t seed, const Run& run) {
  cpu = rows.rows[0].cpu;
  gpu = rows.rows[0].gpu;
  has_times_ = std::all_of(rows.rows.begin(), rows.rows.end(),
                           [](const KernelRow& row) { return row.has_both_times(); });
  residuals_ = held_out_residuals(rows, encoder, options, seed, run);
  const Encoded x = encoder.encode(rows);
  const Targets y(rows);
  density_.fit(kept_places(x.place, options.with_process), programs_of(rows));
  run.step(0.5, "fit");
  const Inputs in = fit_share(x, y, options, seed, run);
  if (has_times_) total_.fit(x.trees, y.total, y.weights, 0, options.trees, seed + 2, run);
  run.step(0.7, "fit");
  const learn::BoostedSettings classes = class_settings(options.trees);
  class_.fit(x.trees, y.classes, y.weights, 5, classes, seed + 3, run);
  run.step(0.8, "fit");
  device_.fit(x.trees, y.devices, y.weights, 2, options.trees, seed + 4, run);
  device_small_.fit(x.small, y.devices, y.weights, 2, informed_settings(options.trees, true),
                    seed + 5, run);
  for (std::size_t few = 0; few < 2 && with_process_; ++few) {
    run.step(0.9, "fit");
    Informed& own = informed_[few];
    own.classes.fit(in.informed[few], y.classes, y.weights, 5, informed_settings(classes, few),
                    seed + 8 + few, run);
    own.device.fit(in.informed[few], y.devices, y.weights, 2, informed_settings(options.trees, few),
                   seed + 10 + few, run);
  }
}

CostAnswers MachineModel::predict(const Encoded& x) const {
  const Inputs in = inputs(x);
  CostAnswers answers;
  answers.share = predict_share(in);
  answers.neighbours = density_.neighbours(x.place);
  answers.programs = density_.groups_near(x.place, kProgramsAlike);
  const Index count = answers.share.size();
  answers.classes = class_.predict(x.trees) + class_likeness(answers.share);
  answers.devices =
      device_.predict(x.trees) + device_small_.predict(x.small) + device_likeness(answers.share);
  if (with_process_) {
    const Matrix said = in.said.mean.cwiseMax(0).cwiseMin(1);
    answers.classes += said.middleCols(kFirstClass, 5);
    answers.devices.col(0) += (1 - said.col(kDevice).array()).matrix();
    answers.devices.col(1) += said.col(kDevice);
    for (std::size_t few = 0; few < 2; ++few) {
      answers.classes += informed_[few].classes.predict(in.informed[few]);
      answers.devices += informed_[few].device.predict(in.informed[few]);
    }
  }
  for (Matrix* votes : {&answers.classes, &answers.devices})
    votes->array().colwise() /= votes->rowwise().sum().array().eval();
  answers.log_cpu = answers.log_gpu = Vector::Constant(count, kUnknown);
  if (!has_times_) return answers;
  Vector total = total_.predict(x.trees).col(0);
  if (with_process_) total = (total + in.said.mean.col(kTotal)) / 2;
  for (Index row = 0; row < count; ++row) {
    const double ratio = logit_of_share(answers.share[row]);
    answers.log_cpu[row] = (total[row] - ratio) / 2;
    answers.log_gpu[row] = (total[row] + ratio) / 2;
  }
  return answers;
}

MachineModel::Interval MachineModel::interval(double share, double programs, double level) const {
  if (!logit_residuals_.sorted().empty()) {
    const double logit = logit_of_share(share), width = logit_residuals_.half_width(level);
    return {share_of_logit(logit - width), share_of_logit(logit + width)};
  }
  const double width = residuals_.half_width(level, programs);
  return {std::max(share - width, 0.0), std::min(share + width, 100.0)};
}

void MachineModel::save(ArtifactWriter& out, const std::string& prefix) const {
  out.put_meta(prefix + ".cpu", cpu);
  out.put_meta(prefix + ".gpu", gpu);
  out.put_meta(prefix + ".times", has_times_ ? "yes" : "no");
  out.put_meta(prefix + ".process", with_process_ ? "yes" : "no");
  learn::ArtifactState state(out);
  share_.save(state, prefix + ".share");
  ratio_.save(state, prefix + ".ratio");
  class_.save(state, prefix + ".class");
  device_.save(state, prefix + ".device");
  device_small_.save(state, prefix + ".device_small");
  if (has_times_) total_.save(state, prefix + ".total");
  if (with_process_) {
    process_->save(state, prefix + ".process");
    for (std::size_t few = 0; few < 2; ++few) {
      const std::string own = prefix + ".informed." + std::to_string(few);
      informed_[few].share.save(state, own + ".share");
      informed_[few].classes.save(state, own + ".class");
      informed_[few].device.save(state, own + ".device");
    }
  }
  density_.save(state, prefix + ".density");
  residuals_.save(state, prefix + ".residuals");
}

void MachineModel::load(const ArtifactReader& in, const std::string& prefix,
                        const KernelEncoder& encoder) {
  cpu = in.meta(prefix + ".cpu");
  gpu = in.meta(prefix + ".gpu");
  has_times_ = in.meta(prefix + ".times") == "yes";
  with_process_ = in.meta(prefix + ".process") == "yes";
  const learn::ArtifactSource state(in);
  share_.load(state, prefix + ".share", encoder.tree_width(), 0);
  ratio_.load(state, prefix + ".ratio", encoder.tree_width(), 0);
  class_.load(state, prefix + ".class", encoder.tree_width(), 5);
  device_.load(state, prefix + ".device", encoder.tree_width(), 2);
  device_small_.load(state, prefix + ".device_small", encoder.small_width(), 2);
  if (has_times_) total_.load(state, prefix + ".total", encoder.tree_width(), 0);
  if (with_process_) {
    std::vector<learn::GaussianProcess::BlockShape> layout;
    for (std::size_t block = 0; block < kBlocks; ++block)
      layout.push_back({kBlockNames[block], encoder.block_width(static_cast<Block>(block))});
    process_ = make_process({}, encoder.with_grewe());
    process_->load(state, prefix + ".process", layout, kSaid);
    for (std::size_t few = 0; few < 2; ++few) {
      const std::string own = prefix + ".informed." + std::to_string(few);
      const Index width = (few ? encoder.small_width() : encoder.tree_width()) + kToldColumns;
      informed_[few].share.load(state, own + ".share", width, 0);
      informed_[few].classes.load(state, own + ".class", width, 5);
      informed_[few].device.load(state, own + ".device", width, 2);
    }
  }
  if (in.find_meta(kDensityMark)) {
    density_.load(state, prefix + ".density", encoder.place_width());
    residuals_.load(state, prefix + ".residuals");
  } else {
    logit_residuals_ = learn::ResidualQuantiles(in.get<double>(prefix + ".residuals"));
  }
}

}  // namespace omen::loadbalance::cost
