// SPDX-License-Identifier: Apache-2.0
// Chooses the machine that a row asks for, or moves its times to one that was not measured.
#include "cost/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

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

void set_share(CostRow& row, double logit, double width) {
  row.share = share_of_logit(logit);
  row.share_lo = share_of_logit(logit - width);
  row.share_hi = share_of_logit(logit + width);
}

void set_classes(CostRow& row) {
  const Vector share = Vector::Constant(1, row.share);
  const Matrix classes = class_likeness(share), devices = device_likeness(share);
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

std::vector<std::string> CostModel::machines() const {
  std::vector<std::string> names;
  for (const MachineModel& machine : machines_)
    names.push_back(machine.cpu + (machine.cpu.empty() || machine.gpu.empty() ? "" : " + ") +
                    machine.gpu);
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
