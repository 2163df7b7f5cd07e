// SPDX-License-Identifier: Apache-2.0
// Shares and times on one machine, learnt from kernels that were measured there.
#pragma once

#include <omen/boosting/boosted_head.hpp>
#include <omen/learn/density.hpp>
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
  int interval_parts = 10;   // of the kernels held out; an interval comes from one that is alike
};

// Answers for some rows.
struct CostAnswers {
  Vector share;             // percent for the CPU
  Matrix classes, devices;  // probabilities in the order of kShareClasses and kDevices
  Vector log_cpu, log_gpu;  // of milliseconds; NaN where times were not learnt
  Vector neighbours;        // kernels of training that are like each
  Vector programs;          // programs of training that have a kernel like each
};

// Distance over which kernels are alike, and how many neighbours an answer needs that is not a
// guess: about a tenth of the rows that inner folds hold out have fewer. Not chosen blindly: the
// outer folds of devmap had been seen.
inline constexpr double kAlike = 0.15, kFewestNeighbours = 0.3;

// Distance over which programs are alike. Intervals go by programs instead of kernels, because the
// launches of one program say little about another one.
inline constexpr double kProgramsAlike = 0.2;

// One machine: a CPU and a GPU on which rows were measured.
class MachineModel {
 public:
  void fit(const KernelRows& rows, const KernelEncoder& encoder, const CostOptions& options,
           std::uint64_t seed, const Run& run);
  CostAnswers predict(const Encoded& x) const;
  // The interval of a share with that many like programs that covers `level` of new ones.
  struct Interval {
    double low, high;  // percent
  };
  Interval interval(double share, double programs, double level) const;

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
  learn::LocalQuantiles held_out_residuals(const KernelRows& rows, const KernelEncoder& encoder,
                                           const CostOptions& options, std::uint64_t seed,
                                           const Run& run) const;

  bool with_process_ = true, has_times_ = false;
  learn::BoostedHead share_, ratio_, total_, class_, device_, device_small_;
  std::optional<learn::GaussianProcess> process_;
  std::array<Informed, 2> informed_;  // by all columns, by few
  learn::Density density_{kAlike};
  learn::LocalQuantiles residuals_;           // of the share, by like programs
  learn::ResidualQuantiles logit_residuals_;  // instead of them in models of 0.1
};

}  // namespace omen::loadbalance::cost
