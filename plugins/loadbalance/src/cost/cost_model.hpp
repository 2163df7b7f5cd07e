// SPDX-License-Identifier: Apache-2.0
// Times of a kernel on both devices: learnt where it was measured, moved elsewhere by the analytic
// model.
#pragma once

#include <omen/learn/correction.hpp>

#include "cost/analytic.hpp"
#include "cost/machine_model.hpp"
#include "graph/calibration.hpp"

namespace omen::loadbalance::cost {

// One row's answer.
struct CostRow {
  double share = kUnknown, share_lo = kUnknown, share_hi = kUnknown;  // percent for the CPU
  double t_cpu_ms = kUnknown, t_gpu_ms = kUnknown;
  std::array<double, 5> classes{};
  std::array<double, 2> devices{};
  double launch_ms = 0;        // of the GPU
  std::string cpu, gpu;        // that the row speaks for
  bool measured_here = false;  // a calibration of this machine was applied
  bool extrapolating = false;  // a kernel, launch or device unlike those of training
  std::string refusal;         // why there is no answer
};

// "CPU + GPU".
std::string machine_name(const std::string& cpu, const std::string& gpu);

class CostModel {
 public:
  // Rows without a graph or a measurement are left out; OMEN_INVALID_DATA where none remains.
  void fit(const KernelRows& rows, const CostOptions& options, std::uint64_t seed, const Run& run);
  // `here`: applied to rows that name no GPU.
  std::vector<CostRow> predict(const KernelRows& rows, double level,
                               const std::optional<Calibration>& here) const;
  // Corrects answers about the machines of these measured rows; other machines keep theirs. Rows
  // without a graph or a measurement do not count; returns how many did.
  std::size_t observe(const KernelRows& measured);

  void save(ArtifactWriter& out) const;
  void load(const ArtifactReader& in);

  bool has_times() const;
  // How the training graphs were compiled; empty where the data do not say.
  const std::string& compiled() const { return compiled_; }
  // Names of every machine.
  std::vector<std::string> machines() const;

 private:
  // What was measured on one machine after training.
  struct Observed {
    std::string cpu, gpu;
    learn::Correction correction;

    Observed();
  };

  // The machine that a row asks for, or none.
  const MachineModel* machine_of(const KernelRow& row) const;
  // As its names stand in Observed.
  std::pair<std::string, std::string> names_of(const KernelRow& row) const;
  const Observed* observed_on(const KernelRow& row) const;
  Observed& observed_here(const KernelRow& row);
  // Answers before corrections; a machine without figures is answered for where it
  // `may_be_unknown`.
  std::vector<CostRow> answer(const KernelRows& rows, const Encoded& x, double level,
                              bool may_be_unknown) const;
  // Times on a machine that was not measured, from all that were.
  void move(const KernelRow& row, const FeatureCounts& counts,
            const std::vector<CostAnswers>& answers, Index at, double level, bool may_be_unknown,
            CostRow& out) const;

  KernelEncoder encoder_;
  std::vector<MachineModel> machines_;
  std::vector<Observed> observed_;
  std::string compiled_;
};

}  // namespace omen::loadbalance::cost
