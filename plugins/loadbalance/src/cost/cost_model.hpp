// SPDX-License-Identifier: Apache-2.0
// Times of a kernel on both devices: learnt where it was measured, moved elsewhere by the analytic
// model.
#pragma once

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
  bool extrapolating = false;  // a kernel, launch or device unlike those of training
  std::string refusal;         // why there is no answer
};

class CostModel {
 public:
  // Rows without a graph or a measurement are left out; OMEN_INVALID_DATA where none remains.
  void fit(const KernelRows& rows, const CostOptions& options, std::uint64_t seed, const Run& run);
  // `here`: applied to rows that name no GPU.
  std::vector<CostRow> predict(const KernelRows& rows, double level,
                               const std::optional<Calibration>& here) const;

  void save(ArtifactWriter& out) const;
  void load(const ArtifactReader& in);

  bool has_times() const;
  // How the training graphs were compiled; empty where the data do not say.
  const std::string& compiled() const { return compiled_; }
  // "CPU + GPU" of every machine.
  std::vector<std::string> machines() const;

 private:
  // The machine that a row asks for, or none.
  const MachineModel* machine_of(const KernelRow& row) const;
  // Times on a machine that was not measured, from all that were.
  void move(const KernelRow& row, const FeatureCounts& counts,
            const std::vector<CostAnswers>& answers, Index at, double level, CostRow& out) const;

  KernelEncoder encoder_;
  std::vector<MachineModel> machines_;
  std::string compiled_;
};

}  // namespace omen::loadbalance::cost
