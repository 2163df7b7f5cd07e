// SPDX-License-Identifier: Apache-2.0
// Times of a kernel on both devices: learnt where it was measured, moved elsewhere by the analytic
// model.
#pragma once

#include "cost/analytic.hpp"
#include "cost/gaussian_process.hpp"
#include "cost/tree_head.hpp"
#include "graph/calibration.hpp"

namespace omen::loadbalance::cost {

// Marks of the classes of the share.
inline constexpr std::array<const char*, 5> kShareClasses = {"0", "25", "50", "75", "100"};
inline constexpr std::array<const char*, 2> kDevices = {"CPU", "GPU"};

struct CostOptions {
  EncoderOptions inputs;
  TreeSettings trees;
  ProcessScales process;
  bool with_process = true;  // the Gaussian process keeps its training rows in the model
  int inner_folds = 5;       // that intervals are measured on; groups stay together
};

// Answers for some rows.
struct CostAnswers {
  Vector share;             // percent for the CPU
  Matrix classes, devices;  // probabilities in the order of kShareClasses and kDevices
  Vector log_cpu, log_gpu;  // of milliseconds; NaN where times were not learnt
};

// One machine: a CPU and a GPU on which rows were measured.
class MachineModel {
 public:
  void fit(const KernelRows& rows, const KernelEncoder& encoder, const CostOptions& options,
           std::uint64_t seed, const Run& run);
  CostAnswers predict(const Encoded& x) const;
  // Half width of an interval of the logit of the share that covers `level` of new programs.
  double half_width(double level) const;

  void save(ArtifactWriter& out, const std::string& prefix) const;
  void load(const ArtifactReader& in, const std::string& prefix, const KernelEncoder& encoder);

  std::string cpu, gpu;
  bool has_times() const { return has_times_; }

 private:
  struct Targets;
  struct Inputs;
  // Boosted trees that also see what the process says about a row.
  struct Informed {
    TreeHead share, classes, device;
  };

  // Returns what the other answers are learnt from.
  Inputs fit_share(const Encoded& x, const Targets& y, const CostOptions& options,
                   std::uint64_t seed, const Run& run);
  Inputs inputs(const Encoded& x) const;
  Vector predict_share(const Inputs& in) const;
  std::vector<double> held_out_residuals(const KernelRows& rows, const KernelEncoder& encoder,
                                         const CostOptions& options, std::uint64_t seed,
                                         const Run& run) const;

  bool with_process_ = true, has_times_ = false;
  TreeHead share_, ratio_, total_, class_, device_, device_small_;
  GaussianProcess process_;
  std::array<Informed, 2> informed_;  // by all columns, by few
  std::vector<double> residuals_;     // absolute, of the logit, sorted
};

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

double logit_of_share(double percent);
double share_of_logit(double logit);

}  // namespace omen::loadbalance::cost
