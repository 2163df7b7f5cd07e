// SPDX-License-Identifier: Apache-2.0
// Whether a job fits a device, from its graph.
#pragma once

#include <omen/opgraph/op_graph.hpp>

#include "step/device.hpp"

namespace omen::driple {

// What contexts and the slack of allocators take on any device: midway between the trainings that
// finished and those that ran out of memory on cards of 8 GiB.
inline constexpr double kMemoryReserve = 0.8 * 1024 * 1024 * 1024;

struct MemoryNeed {
  double fixed = 0;   // weights, gradients, states and cache
  double moving = 0;  // tensors between operations and workspaces; they grow with the batch
  double reserve = kMemoryReserve;

  double total() const { return fixed + moving + reserve; }
  bool fits(const Device& device) const { return device.memory <= 0 || total() <= device.memory; }
  // Samples of the largest batch that fits; 0: not even one.
  double largest_batch(const Device& device, double batch) const;
};
MemoryNeed memory_need(const opgraph::Job& job, double reserve = kMemoryReserve);

}  // namespace omen::driple
