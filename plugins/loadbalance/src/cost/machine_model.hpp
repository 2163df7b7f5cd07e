// SPDX-License-Identifier: Apache-2.0
// Shares and times on one machine, learnt from kernels that were measured there.
#pragma once

#include <omen/boosting/boosted_head.hpp>
#include <omen/learn/intervals.hpp>
#include <optional>

#include "cost/process_kernel.hpp"

namespace omen::loadbalance::cost {

struct CostOptions {
  EncoderOptions inputs;
  learn::BoostedSettings trees;
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
    learn::BoostedHead share, classes, device;
  };

  // Returns what the other answers are learnt from.
  Inputs fit_share(const Encoded& x, const Targets& y, const CostOptions& options,
                   std::uint64_t seed, const Run& run);
  Inputs inputs(const Encoded& x) const;
  Vector predict_share(const Inputs& in) const;
  learn::ResidualQuantiles held_out_residuals(const KernelRows& rows, const KernelEncoder& encoder,
                                              const CostOptions& options, std::uint64_t seed,
                                              const Run& run) const;

  bool with_process_ = true, has_times_ = false;
  learn::BoostedHead share_, ratio_, total_, class_, device_, device_small_;
  std::optional<learn::GaussianProcess> process_;
  std::array<Informed, 2> informed_;    // by all columns, by few
  learn::ResidualQuantiles residuals_;  // of the logit
};

}  // namespace omen::loadbalance::cost
