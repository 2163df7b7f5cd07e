// SPDX-License-Identifier: Apache-2.0
// A whole step as the sum of its operations, and what describes it to the model of jobs.
#pragma once

#include <array>

#include "step/operator_model.hpp"

namespace omen::driple {

// Seconds of one rank's step by what they are spent on.
enum class Part : std::uint8_t {
  conv_winograd,
  conv_direct,
  product,         // on fp32 units
  narrow_product,  // on tensor units
  attention,       // as one kernel
  traffic,
  update,
  communication
};
inline constexpr std::size_t kPartCount = 8;

struct JobCosts {
  std::array<double, kPartCount> seconds{};  // as the operators say
  std::array<double, 4> phase{};             // the same by phase of the step
  double bound = 0;                          // below which no step can be
  double kernels = 0;                        // launched one by one
  double captured = 0;                       // launched together, as servers do
  double passes = 0;                         // of a server's scheduler
  double beyond = 0;     // how far its operations lie outside of what was measured
  double intensity = 0;  // FLOP a byte
  double repeats = 1;    // of the graph in a step: micro-batches and the pipeline's filling

  double total() const;
  // So many times another step besides, such as prompts that a server reads between answers.
  void add(const JobCosts& other, double times);
};
JobCosts job_costs(const opgraph::Job& job, const Device& device, const OperatorModel& operators);

// Of jobs and of devices, both relative or on a logarithmic scale.
inline constexpr std::size_t kJobFeatures = 12, kDeviceFeatures = 4;
std::array<double, kJobFeatures> job_features(const JobCosts& costs);
std::array<double, kDeviceFeatures> device_features(const Device& device);
// Small cards do not hold their clock in long steps; above some watts it makes no difference.
double power_feature(const Device& device);

}  // namespace omen::driple
