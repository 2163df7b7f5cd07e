// SPDX-License-Identifier: Apache-2.0
// Ensembles of trees and a Gaussian process for each machine, and the step to other devices.
#include "cost/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace omen::loadbalance::cost {
namespace {

constexpr double kShareFloor = 0.5;  // percent; logits of labels stay finite
constexpr double kMarkWidth = 4.0;   // percent over which a share speaks for a class or a device
constexpr std::size_t kMostResiduals = 2001;
constexpr double kInformedColumns = 0.6;  // of all, for each tree that also asks the process
const std::vector<double> kMarks = {0, 25, 50, 75, 100};

bool measured(const KernelRow& row) {
  const bool times = std::isfinite(row.t_cpu_ms) && std::isfinite(row.t_gpu_ms) &&
                     row.t_cpu_ms > 0 && row.t_gpu_ms > 0;
  return row.graph >= 0 && (times || std::isfinite(row.share));
}

bool has_both_times(const KernelRow& row) {
  return row.t_cpu_ms > 0 && row.t_gpu_ms > 0 && std::isfinite(row.t_cpu_ms) &&
         std::isfinite(row.t_gpu_ms);
}

double share_of(const KernelRow& row) {
  if (std::isfinite(row.share)) return std::clamp(row.share, 0.0, 100.0);
  return 100 * row.t_gpu_ms / (row.t_cpu_ms + row.t_gpu_ms);
}

int class_of_share(double share) {
  return static_cast<int>(std::clamp(std::floor(share / 25 + 0.5), 0.0, 4.0));
}

KernelRows subset(const KernelRows& rows, const std::vector<std::size_t>& which) {
  KernelRows part;
  part.graphs = rows.graphs;
  part.groups = rows.groups;
  for (const std::size_t row : which) part.rows.push_back(rows.rows[row]);
  return part;
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

// Groups to folds, the largest first, each into the emptiest; rows where there are too few groups.
std::vector<int> folds_of(const KernelRows& rows, int count) {
  std::map<std::int32_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) groups[rows.rows[i].group].push_back(i);
  std::vector<std::vector<std::size_t>> parts;
  if (static_cast<int>(groups.size()) >= count) {
    for (auto& [group, members] : groups) parts.push_back(std::move(members));
  } else {
    for (std::size_t i = 0; i < rows.rows.size(); ++i) parts.push_back({i});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<int> fold(rows.rows.size(), 0);
  std::vector<std::size_t> filled(static_cast<std::size_t>(count), 0);
  for (const std::vector<std::size_t>& part : parts) {
    const auto emptiest = std::min_element(filled.begin(), filled.end());
    *emptiest += part.size();
    for (const std::size_t row : part) fold[row] = static_cast<int>(emptiest - filled.begin());
  }
  return fold;
}

// How much a share speaks for each of some marks.
Matrix likeness(const Vector& share, const std::vector<double>& marks) {
  Matrix p(share.size(), static_cast<Index>(marks.size()));
  for (Index row = 0; row < share.size(); ++row) {
    for (Index c = 0; c < p.cols(); ++c)
      p(row, c) = std::exp(-std::abs(share[row] - marks[static_cast<std::size_t>(c)]) / kMarkWidth);
    p.row(row) /= p.row(row).sum();
  }
  return p;
}

Matrix device_likeness(const Vector& share) {
  Matrix p(share.size(), 2);
  for (Index row = 0; row < share.size(); ++row) {
    p(row, 0) = 1 / (1 + std::exp(-(share[row] - 50) / kMarkWidth));
    p(row, 1) = 1 - p(row, 0);
  }
  return p;
}

}  // namespace

double logit_of_share(double percent) {
  const double p = std::clamp(percent, kShareFloor, 100 - kShareFloor) / 100;
  return std::log(p / (1 - p));
}

double share_of_logit(double logit) {
  return 100 / (1 + std::exp(-logit));
}

// ---------------------------------------------------------------------------------- one machine

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
      if (!has_both_times(row)) continue;
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
  Opinions said;
  std::array<Matrix, 2> informed;  // all columns, few columns

  explicit Inputs(const Encoded& encoded) : x(encoded) {}
  Inputs(const Encoded& encoded, Opinions opinions) : x(encoded), said(std::move(opinions)) {
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
TreeSettings informed_settings(TreeSettings trees, bool few) {
  trees.columns = few ? 1 : kInformedColumns;
  return trees;
}

TreeSettings class_settings(TreeSettings trees) {
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
  process_ = GaussianProcess(options.process);
  Inputs in(x, process_.fit(x, y.all(), y.weights.cwiseInverse()));
  for (std::size_t few = 0; few < 2; ++few)
    informed_[few].share.fit(in.informed[few], y.share, y.weights, 0,
                             informed_settings(options.trees, few), seed + 6 + few, run);
  return in;
}

MachineModel::Inputs MachineModel::inputs(const Encoded& x) const {
  return with_process_ ? Inputs(x, process_.predict(x)) : Inputs(x);
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

std::vector<double> MachineModel::held_out_residuals(const KernelRows& rows,
                                                     const KernelEncoder& encoder,
                                                     const CostOptions& options, std::uint64_t seed,
                                                     const Run& run) const {
  std::vector<double> residuals;
  const int count = std::min<int>(options.inner_folds, static_cast<int>(rows.rows.size()));
  if (count < 2) return residuals;
  const std::vector<int> fold = folds_of(rows, count);
  for (int held = 0; held < count; ++held) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == held ? out : in).push_back(i);
    if (in.empty() || out.empty()) continue;
    run.step(static_cast<double>(held) / (2 * count), "intervals");
    const KernelRows train = subset(rows, in), test = subset(rows, out);
    MachineModel part;
    const Encoded seen = encoder.encode(train), asked = encoder.encode(test);
    part.fit_share(seen, Targets(train), options, seed, run);
    const Vector answer = part.predict_share(part.inputs(asked));
    for (std::size_t i = 0; i < out.size(); ++i)
      residuals.push_back(std::abs(logit_of_share(answer[static_cast<Index>(i)]) -
                                   logit_of_share(share_of(test.rows[i]))));
  }
  std::sort(residuals.begin(), residuals.end());
  if (residuals.size() <= kMostResiduals) return residuals;
  std::vector<double> kept;
  for (std::size_t i = 0; i < kMostResiduals; ++i)
    kept.push_back(residuals[i * (residuals.size() - 1) / (kMostResiduals - 1)]);
  return kept;
}

void MachineModel::fit(const KernelRows& rows, const KernelEncoder& encoder,
                       const CostOptions& options, std::uint64_t seed, const Run& run) {
  cpu = rows.rows[0].cpu;
  gpu = rows.rows[0].gpu;
  has_times_ = std::all_of(rows.rows.begin(), rows.rows.end(), has_both_times);
  residuals_ = held_out_residuals(rows, encoder, options, seed, run);
  const Encoded x = encoder.encode(rows);
  const Targets y(rows);
  run.step(0.5, "fit");
  const Inputs in = fit_share(x, y, options, seed, run);
  if (has_times_) total_.fit(x.trees, y.total, y.weights, 0, options.trees, seed + 2, run);
  run.step(0.7, "fit");
  const TreeSettings classes = class_settings(options.trees);
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
  const Index count = answers.share.size();
  answers.classes = class_.predict(x.trees) + likeness(answers.share, kMarks);
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

double MachineModel::half_width(double level) const {
  if (residuals_.empty()) return kUnknown;
  const double rank = std::ceil((static_cast<double>(residuals_.size()) + 1) * level);
  const double last = static_cast<double>(residuals_.size());
  return residuals_[static_cast<std::size_t>(std::clamp(rank, 1.0, last)) - 1];
}

void MachineModel::save(ArtifactWriter& out, const std::string& prefix) const {
  out.put_meta(prefix + ".cpu", cpu);
  out.put_meta(prefix + ".gpu", gpu);
  out.put_meta(prefix + ".times", has_times_ ? "yes" : "no");
  out.put_meta(prefix + ".process", with_process_ ? "yes" : "no");
  share_.save(out, prefix + ".share");
  ratio_.save(out, prefix + ".ratio");
  class_.save(out, prefix + ".class");
  device_.save(out, prefix + ".device");
  device_small_.save(out, prefix + ".device_small");
  if (has_times_) total_.save(out, prefix + ".total");
  if (with_process_) {
    process_.save(out, prefix + ".process");
    for (std::size_t few = 0; few < 2; ++few) {
      const std::string own = prefix + ".informed." + std::to_string(few);
      informed_[few].share.save(out, own + ".share");
      informed_[few].classes.save(out, own + ".class");
      informed_[few].device.save(out, own + ".device");
    }
  }
  out.put(prefix + ".residuals", residuals_);
}

void MachineModel::load(const ArtifactReader& in, const std::string& prefix,
                        const KernelEncoder& encoder) {
  cpu = in.meta(prefix + ".cpu");
  gpu = in.meta(prefix + ".gpu");
  has_times_ = in.meta(prefix + ".times") == "yes";
  with_process_ = in.meta(prefix + ".process") == "yes";
  share_.load(in, prefix + ".share", encoder.tree_width(), 0);
  ratio_.load(in, prefix + ".ratio", encoder.tree_width(), 0);
  class_.load(in, prefix + ".class", encoder.tree_width(), 5);
  device_.load(in, prefix + ".device", encoder.tree_width(), 2);
  device_small_.load(in, prefix + ".device_small", encoder.small_width(), 2);
  if (has_times_) total_.load(in, prefix + ".total", encoder.tree_width(), 0);
  if (with_process_) {
    process_.load(in, prefix + ".process", encoder, kSaid);
    for (std::size_t few = 0; few < 2; ++few) {
      const std::string own = prefix + ".informed." + std::to_string(few);
      const Index width = (few ? encoder.small_width() : encoder.tree_width()) + kToldColumns;
      informed_[few].share.load(in, own + ".share", width, 0);
      informed_[few].classes.load(in, own + ".class", width, 5);
      informed_[few].device.load(in, own + ".device", width, 2);
    }
  }
  residuals_ = in.get<double>(prefix + ".residuals");
}

// -------------------------------------------------------------------------------- all machines

void CostModel::fit(const KernelRows& rows, const CostOptions& options, std::uint64_t seed,
                    const Run& run) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    if (measured(rows.rows[i])) usable.push_back(i);
  if (usable.empty())
    throw Error(OMEN_INVALID_DATA, "no row has a graph and a measurement",
                "Give targets t_cpu_ms and t_gpu_ms in ms, or share in %.");
  const KernelRows kept = subset(rows, usable);
  encoder_.fit(kept, options.inputs);
  compiled_ = kept.rows[0].compiled;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_machine;
  std::vector<std::pair<std::string, std::string>> order;
  for (std::size_t i = 0; i < kept.rows.size(); ++i) {
    const std::pair<std::string, std::string> key(kept.rows[i].cpu, kept.rows[i].gpu);
    if (!by_machine.count(key)) order.push_back(key);
    by_machine[key].push_back(i);
  }
  machines_.clear();
  for (const auto& key : order) {
    machines_.emplace_back();
    machines_.back().fit(subset(kept, by_machine[key]), encoder_, options, seed, run);
  }
}

bool CostModel::has_times() const {
  return std::all_of(machines_.begin(), machines_.end(),
                     [](const MachineModel& machine) { return machine.has_times(); });
}

std::vector<std::string> CostModel::machines() const {
  std::vector<std::string> names;
  for (const MachineModel& machine : machines_)
    names.push_back(machine.cpu + (machine.cpu.empty() || machine.gpu.empty() ? "" : " + ") +
                    machine.gpu);
  return names;
}

namespace {

// Precision and operations a byte of a kernel, for the step between devices.
struct Character {
  double fp64_share = 0, intensity = 1;

  explicit Character(const FeatureCounts& counts) {
    const Operations work = count_operations(counts);
    const double operations = work.fp32 + work.fp64 + work.integer / 4 + 8 * work.special;
    fp64_share = operations > 0 ? std::min(work.fp64 / operations, 1.0) : 0;
    intensity = operations / std::max(work.bytes, 1.0);
  }
};

void set_share(CostRow& row, double logit, double width) {
  row.share = share_of_logit(logit);
  row.share_lo = share_of_logit(logit - width);
  row.share_hi = share_of_logit(logit + width);
}

void set_classes(CostRow& row) {
  const Vector share = Vector::Constant(1, row.share);
  const Matrix classes = likeness(share, kMarks), devices = device_likeness(share);
  for (Index c = 0; c < classes.cols(); ++c)
    row.classes[static_cast<std::size_t>(c)] = classes(0, c);
  for (Index c = 0; c < devices.cols(); ++c)
    row.devices[static_cast<std::size_t>(c)] = devices(0, c);
}

void calibrate(CostRow& row, const Calibration& here) {
  row.t_cpu_ms *= std::exp(here.log_cpu);
  row.t_gpu_ms *= std::exp(here.log_gpu);
  const double shift = here.log_gpu - here.log_cpu;
  const double width = (logit_of_share(row.share_hi) - logit_of_share(row.share_lo)) / 2;
  set_share(row, logit_of_share(row.share) + shift, width);
  set_classes(row);
  if (here.launch_ms > 0) row.launch_ms = here.launch_ms;
}

bool same_device(const std::string& asked, const std::string& trained,
                 std::optional<DeviceFigures> (*find)(const std::string&)) {
  if (asked.empty() || asked == trained) return true;
  const auto a = find(asked), b = find(trained);
  return a && b && a->name == b->name;
}

}  // namespace

const MachineModel* CostModel::machine_of(const KernelRow& row) const {
  for (const MachineModel& machine : machines_)
    if (same_device(row.gpu, machine.gpu, find_gpu) && same_device(row.cpu, machine.cpu, find_cpu))
      return &machine;
  return nullptr;
}

void CostModel::move(const KernelRow& row, const FeatureCounts& counts,
                     const std::vector<CostAnswers>& answers, Index at, double level,
                     CostRow& out) const {
  const std::optional<DeviceFigures> cpu = find_cpu(row.cpu), gpu = find_gpu(row.gpu);
  if (!cpu || !gpu) {
    out.refusal = "no figures of device '" + (cpu ? row.gpu : row.cpu) + "'";
    return;
  }
  if (!has_times()) {
    out.refusal = "the model knows no times to move to another device";
    return;
  }
  const Character kernel(counts);
  const double bytes = std::isfinite(row.input_size) ? row.input_size : 0;
  double log_cpu = 0, log_gpu = 0, width = 0;
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const auto known_cpu = find_cpu(machines_[m].cpu), known_gpu = find_gpu(machines_[m].gpu);
    if (!known_cpu || !known_gpu) {
      out.refusal = "no figures of the devices that the model was trained on";
      return;
    }
    const double t_cpu = std::exp(answers[m].log_cpu[at]), t_gpu = std::exp(answers[m].log_gpu[at]);
    log_cpu +=
        known_cpu->name == cpu->name
            ? std::log(t_cpu)
            : std::log(move_time(t_cpu, 0, kernel.fp64_share, kernel.intensity, *known_cpu, *cpu));
    log_gpu += known_gpu->name == gpu->name
                   ? std::log(t_gpu)
                   : std::log(move_time(t_gpu, bytes, kernel.fp64_share, kernel.intensity,
                                        *known_gpu, *gpu));
    const double own = machines_[m].half_width(level);
    width = own >= width || std::isnan(own) ? own : width;
  }
  const auto count = static_cast<double>(machines_.size());
  out.t_cpu_ms = std::exp(log_cpu / count);
  out.t_gpu_ms = std::exp(log_gpu / count);
  set_share(out, (log_gpu - log_cpu) / count, width);
  set_classes(out);
  out.launch_ms = gpu->launch_ms;
  out.extrapolating = true;
}

std::vector<CostRow> CostModel::predict(const KernelRows& rows, double level,
                                        const std::optional<Calibration>& here) const {
  const Encoded x = encoder_.encode(rows);
  std::vector<CostAnswers> answers;
  for (const MachineModel& machine : machines_) answers.push_back(machine.predict(x));
  std::vector<CostRow> out(rows.rows.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const KernelRow& row = rows.rows[i];
    const auto at = static_cast<Index>(i);
    if (row.graph < 0) {
      out[i].refusal = "no graph for this workload";
      continue;
    }
    out[i].extrapolating = x.outside[i];
    const MachineModel* machine = machine_of(row);
    if (!machine) {
      move(row, rows.counts(row), answers, at, level, out[i]);
      continue;
    }
    const CostAnswers& answer = answers[static_cast<std::size_t>(machine - machines_.data())];
    set_share(out[i], logit_of_share(answer.share[at]), machine->half_width(level));
    out[i].share = answer.share[at];
    out[i].t_cpu_ms = std::exp(answer.log_cpu[at]);
    out[i].t_gpu_ms = std::exp(answer.log_gpu[at]);
    for (std::size_t c = 0; c < 5; ++c)
      out[i].classes[c] = answer.classes(at, static_cast<Index>(c));
    for (std::size_t c = 0; c < 2; ++c)
      out[i].devices[c] = answer.devices(at, static_cast<Index>(c));
    if (const auto gpu = find_gpu(machine->gpu)) out[i].launch_ms = gpu->launch_ms;
    if (here && row.gpu.empty()) calibrate(out[i], *here);
  }
  return out;
}

void CostModel::save(ArtifactWriter& out) const {
  out.put_meta("cost.machines", std::to_string(machines_.size()));
  out.put_meta("cost.compiled", compiled_);
  encoder_.save(out);
  for (std::size_t m = 0; m < machines_.size(); ++m)
    machines_[m].save(out, "machine." + std::to_string(m));
}

void CostModel::load(const ArtifactReader& in) {
  constexpr int kMostMachines = 1000;
  const int count = std::atoi(in.meta("cost.machines").c_str());
  if (count < 1 || count > kMostMachines)
    throw Error(OMEN_INVALID_DATA,
                "the model says it has " + in.meta("cost.machines") + " machines",
                "Train the model again.");
  compiled_ = in.meta("cost.compiled");
  encoder_.load(in);
  machines_.assign(static_cast<std::size_t>(count), MachineModel());
  for (std::size_t m = 0; m < machines_.size(); ++m)
    machines_[m].load(in, "machine." + std::to_string(m), encoder_);
}

}  // namespace omen::loadbalance::cost
