// SPDX-License-Identifier: Apache-2.0
// Chooses the machine that a row asks for, or moves its times to one that was not measured.
#include "cost/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/density.hpp>
#include <tuple>

#include "cost/share_scale.hpp"

namespace omen::loadbalance::cost {
namespace {

bool measured(const KernelRow& row) {
  return row.graph >= 0 && (row.has_both_times() || std::isfinite(row.share));
}

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

// Answers of a correction: logarithms of the ratio and of the product of both times.
enum Corrected : Index { kRatioShift, kTotalShift, kShifts };

void set_classes(CostRow& row) {
  const Vector share = Vector::Constant(1, row.share);
  const Matrix classes = class_likeness(share), devices = device_likeness(share);
  for (Index c = 0; c < classes.cols(); ++c)
    row.classes[static_cast<std::size_t>(c)] = classes(0, c);
  for (Index c = 0; c < devices.cols(); ++c)
    row.devices[static_cast<std::size_t>(c)] = devices(0, c);
}

// Times by these logarithms, and with them the share.
void shift_times(CostRow& row, double log_cpu, double log_gpu) {
  row.t_cpu_ms *= std::exp(log_cpu);
  row.t_gpu_ms *= std::exp(log_gpu);
  for (double* share : {&row.share, &row.share_lo, &row.share_hi})
    if (std::isfinite(*share)) *share = share_of_logit(logit_of_share(*share) + log_gpu - log_cpu);
  set_classes(row);
}

void calibrate(CostRow& row, const Calibration& here) {
  shift_times(row, here.log_cpu, here.log_gpu);
  if (here.launch_ms > 0) row.launch_ms = here.launch_ms;
  row.cpu = here.cpu;
  row.gpu = here.gpu;
  row.measured_here = true;
}

// Votes on the device know more than times, so times yield: both meet at their mean, the one of
// the device a little below.
void agree_with_device(CostRow& row) {
  constexpr double kEdge = 1.05;
  const bool gpu = row.devices[1] > row.devices[0];
  double &chosen = gpu ? row.t_gpu_ms : row.t_cpu_ms, &other = gpu ? row.t_cpu_ms : row.t_gpu_ms;
  if (!(chosen * kEdge > other)) return;
  const double mean = std::sqrt(chosen * other);
  chosen = mean / std::sqrt(kEdge);
  other = mean * std::sqrt(kEdge);
}

constexpr const char* kObservedMark = "cost.observed";  // machines that were observed

std::string observed_name(std::size_t number) {
  return "observed." + std::to_string(number);
}

int machine_count(const std::string& text, int fewest) {
  constexpr int kMostMachines = 1000;
  const int count = std::atoi(text.c_str());
  if (count >= fewest && count <= kMostMachines) return count;
  throw Error(OMEN_INVALID_DATA, "the model says it has " + text + " machines",
              "Train the model again.");
}

bool same_device(const std::string& asked, const std::string& trained,
                 std::optional<DeviceFigures> (*find)(const std::string&)) {
  if (asked.empty() || asked == trained) return true;
  const auto a = find(asked), b = find(trained);
  return a && b && a->name == b->name;
}

}  // namespace

void CostModel::fit(const KernelRows& rows, const CostOptions& options, std::uint64_t seed,
                    const Run& run) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    if (measured(rows.rows[i])) usable.push_back(i);
  if (usable.empty())
    throw Error(OMEN_INVALID_DATA, "no row has a graph and a measurement",
                "Give targets t_cpu_ms and t_gpu_ms in ms, or share in %.");
  const KernelRows kept = rows.subset(usable);
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
    machines_.back().fit(kept.subset(by_machine[key]), encoder_, options, seed, run);
  }
}

bool CostModel::has_times() const {
  return std::all_of(machines_.begin(), machines_.end(),
                     [](const MachineModel& machine) { return machine.has_times(); });
}

std::string machine_name(const std::string& cpu, const std::string& gpu) {
  return cpu + (cpu.empty() || gpu.empty() ? "" : " + ") + gpu;
}

std::vector<std::string> CostModel::machines() const {
  std::vector<std::string> names;
  for (const MachineModel& machine : machines_)
    names.push_back(machine_name(machine.cpu, machine.gpu));
  return names;
}

const MachineModel* CostModel::machine_of(const KernelRow& row) const {
  for (const MachineModel& machine : machines_)
    if (same_device(row.gpu, machine.gpu, find_gpu) && same_device(row.cpu, machine.cpu, find_cpu))
      return &machine;
  return nullptr;
}

void CostModel::move(const KernelRow& row, const FeatureCounts& counts,
                     const std::vector<CostAnswers>& answers, Index at, double level,
                     bool may_be_unknown, CostRow& out) const {
  const std::optional<DeviceFigures> cpu = find_cpu(row.cpu), gpu = find_gpu(row.gpu);
  if ((!cpu || !gpu) && !may_be_unknown) {
    out.refusal = "no figures of device '" + (cpu ? row.gpu : row.cpu) + "'";
    return;
  }
  if (!has_times()) {
    out.refusal = "the model knows no times to move to another device";
    return;
  }
  const Character kernel(counts);
  const double bytes = std::isfinite(row.input_size) ? row.input_size : 0;
  double log_cpu = 0, log_gpu = 0;
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const auto known_cpu = find_cpu(machines_[m].cpu), known_gpu = find_gpu(machines_[m].gpu);
    if (!known_cpu || !known_gpu) {
      out.refusal = "no figures of the devices that the model was trained on";
      return;
    }
    const double t_cpu = std::exp(answers[m].log_cpu[at]), t_gpu = std::exp(answers[m].log_gpu[at]);
    log_cpu +=
        !cpu || known_cpu->name == cpu->name
            ? std::log(t_cpu)
            : std::log(move_time(t_cpu, 0, kernel.fp64_share, kernel.intensity, *known_cpu, *cpu));
    log_gpu += !gpu || known_gpu->name == gpu->name
                   ? std::log(t_gpu)
                   : std::log(move_time(t_gpu, bytes, kernel.fp64_share, kernel.intensity,
                                        *known_gpu, *gpu));
  }
  const auto count = static_cast<double>(machines_.size());
  out.t_cpu_ms = std::exp(log_cpu / count);
  out.t_gpu_ms = std::exp(log_gpu / count);
  out.share = share_of_logit((log_gpu - log_cpu) / count);
  out.share_lo = out.share_hi = out.share;
  for (const MachineModel& machine : machines_) {
    const MachineModel::Interval own = machine.interval(out.share, 0, level);
    out.share_lo = std::isnan(own.low) ? own.low : std::min(out.share_lo, own.low);
    out.share_hi = std::isnan(own.high) ? own.high : std::max(out.share_hi, own.high);
  }
  set_classes(out);
  out.launch_ms = gpu ? gpu->launch_ms : 0;
  std::tie(out.cpu, out.gpu) = names_of(row);
}

CostModel::Observed::Observed() : correction({1, 1, 0.5, 2 * kAlike}) {}

std::pair<std::string, std::string> CostModel::names_of(const KernelRow& row) const {
  if (const MachineModel* machine = machine_of(row)) return {machine->cpu, machine->gpu};
  const std::optional<DeviceFigures> cpu = find_cpu(row.cpu), gpu = find_gpu(row.gpu);
  return {cpu ? cpu->name : row.cpu, gpu ? gpu->name : row.gpu};
}

const CostModel::Observed* CostModel::observed_on(const KernelRow& row) const {
  const auto names = names_of(row);
  for (const Observed& one : observed_)
    if (std::pair(one.cpu, one.gpu) == names) return &one;
  return nullptr;
}

CostModel::Observed& CostModel::observed_here(const KernelRow& row) {
  const auto names = names_of(row);
  for (Observed& one : observed_)
    if (std::pair(one.cpu, one.gpu) == names) return one;
  Observed& fresh = observed_.emplace_back();
  std::tie(fresh.cpu, fresh.gpu) = names;
  return fresh;
}

std::size_t CostModel::observe(const KernelRows& measured_rows) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < measured_rows.rows.size(); ++i)
    if (measured(measured_rows.rows[i])) usable.push_back(i);
  const KernelRows kept = measured_rows.subset(usable);
  const Encoded x = encoder_.encode(kept);
  const std::vector<CostRow> said = answer(kept, x, 0.5, true);
  std::size_t counted = 0;
  for (std::size_t i = 0; i < kept.rows.size(); ++i) {
    const KernelRow& row = kept.rows[i];
    if (!said[i].refusal.empty()) continue;
    Matrix residual = Matrix::Zero(1, kShifts);
    residual(0, kRatioShift) =
        (row.has_both_times() ? std::log(row.t_gpu_ms / row.t_cpu_ms) : logit_of_share(row.share)) -
        logit_of_share(said[i].share);
    if (row.has_both_times() && has_times())
      residual(0, kTotalShift) =
          std::log(row.t_gpu_ms * row.t_cpu_ms / (said[i].t_gpu_ms * said[i].t_cpu_ms));
    observed_here(row).correction.add(x.place.row(static_cast<Index>(i)), residual);
    ++counted;
  }
  return counted;
}

std::vector<CostRow> CostModel::predict(const KernelRows& rows, double level,
                                        const std::optional<Calibration>& here) const {
  const Encoded x = encoder_.encode(rows);
  std::vector<CostRow> out = answer(rows, x, level, false);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].refusal.empty()) continue;
    if (const Observed* here_too = observed_on(rows.rows[i])) {
      const Matrix shift = here_too->correction.of(x.place.row(static_cast<Index>(i)));
      shift_times(out[i], (shift(0, kTotalShift) - shift(0, kRatioShift)) / 2,
                  (shift(0, kTotalShift) + shift(0, kRatioShift)) / 2);
    } else if (here && rows.rows[i].gpu.empty() && machine_of(rows.rows[i])) {
      calibrate(out[i], *here);
    }
    agree_with_device(out[i]);
  }
  return out;
}

std::vector<CostRow> CostModel::answer(const KernelRows& rows, const Encoded& x, double level,
                                       bool may_be_unknown) const {
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
    // Kernels that were measured on the machine in question are neighbours like those of training,
    // and one program more.
    const Observed* seen = observed_on(row);
    double neighbours = 0, programs = 0;
    if (seen) {
      const Matrix& rows_seen = seen->correction.rows();
      learn::Density density(kAlike);
      density.fit(rows_seen, std::vector<std::int64_t>(static_cast<std::size_t>(rows_seen.rows())));
      neighbours = density.neighbours(x.place.row(at))[0];
      programs = density.groups_near(x.place.row(at), kProgramsAlike)[0];
    }
    const MachineModel* machine = machine_of(row);
    if (!machine) {
      move(row, rows.counts(row), answers, at, level, may_be_unknown || seen, out[i]);
      out[i].extrapolating = x.outside[i] || neighbours < kFewestNeighbours;
      continue;
    }
    const CostAnswers& answer = answers[static_cast<std::size_t>(machine - machines_.data())];
    neighbours += answer.neighbours[at];
    programs += answer.programs[at];
    out[i].extrapolating = x.outside[i] || neighbours < kFewestNeighbours;
    out[i].share = answer.share[at];
    const MachineModel::Interval interval = machine->interval(answer.share[at], programs, level);
    out[i].share_lo = interval.low;
    out[i].share_hi = interval.high;
    out[i].t_cpu_ms = std::exp(answer.log_cpu[at]);
    out[i].t_gpu_ms = std::exp(answer.log_gpu[at]);
    for (std::size_t c = 0; c < 5; ++c)
      out[i].classes[c] = answer.classes(at, static_cast<Index>(c));
    for (std::size_t c = 0; c < 2; ++c)
      out[i].devices[c] = answer.devices(at, static_cast<Index>(c));
    if (const auto gpu = find_gpu(machine->gpu)) out[i].launch_ms = gpu->launch_ms;
    out[i].cpu = machine->cpu;
    out[i].gpu = machine->gpu;
  }
  return out;
}

void CostModel::save(ArtifactWriter& out) const {
  out.put_meta("cost.machines", std::to_string(machines_.size()));
  out.put_meta("cost.compiled", compiled_);
  out.put_meta(kDensityMark, "yes");
  encoder_.save(out);
  for (std::size_t m = 0; m < machines_.size(); ++m)
    machines_[m].save(out, "machine." + std::to_string(m));
  if (observed_.empty()) return;
  out.put_meta(kObservedMark, std::to_string(observed_.size()));
  learn::ArtifactState state(out);
  for (std::size_t m = 0; m < observed_.size(); ++m) {
    const std::string name = observed_name(m);
    out.put_meta(name + ".cpu", observed_[m].cpu);
    out.put_meta(name + ".gpu", observed_[m].gpu);
    observed_[m].correction.save(state, name);
  }
}

void CostModel::load(const ArtifactReader& in) {
  const int count = machine_count(in.meta("cost.machines"), 1);
  compiled_ = in.meta("cost.compiled");
  encoder_.load(in);
  machines_.assign(static_cast<std::size_t>(count), MachineModel());
  for (std::size_t m = 0; m < machines_.size(); ++m)
    machines_[m].load(in, "machine." + std::to_string(m), encoder_);
  observed_.assign(
      static_cast<std::size_t>(machine_count(in.find_meta(kObservedMark).value_or("0"), 0)), {});
  const learn::ArtifactSource state(in);
  for (std::size_t m = 0; m < observed_.size(); ++m) {
    const std::string name = observed_name(m);
    observed_[m].cpu = in.meta(name + ".cpu");
    observed_[m].gpu = in.meta(name + ".gpu");
    observed_[m].correction.load(state, name, encoder_.place_width(), kShifts);
  }
}

}  // namespace omen::loadbalance::cost
