// SPDX-License-Identifier: Apache-2.0
// Memory by liveness over the graph, with what outlives a step.
#include "step/memory.hpp"

#include <algorithm>
#include <cmath>
#include <omen/opgraph/liveness.hpp>

#include "step/op_work.hpp"

namespace omen::driple {
namespace {

// Winograd's transformed input and output are as large again as the tensors; one layer at a time.
double workspace_bytes(const opgraph::OpGraph& graph) {
  double most = 0;
  for (const opgraph::Op& op : graph.ops)
    if (takes_winograd(op))
      most = std::max(most, op.bytes_read + op.bytes_written - op.parameter_bytes);
  return most;
}

}  // namespace

MemoryNeed memory_need(const opgraph::Job& job, double reserve) {
  const opgraph::StepFacts& facts = job.facts;
  MemoryNeed need;
  need.fixed =
      facts.weight_bytes + facts.gradient_bytes + facts.optimizer_bytes + facts.cache_bytes;
  need.moving = std::max(opgraph::step_bytes(job) - need.fixed, 0.0) + workspace_bytes(job.graph);
  need.reserve = reserve;
  return need;
}

double MemoryNeed::largest_batch(const Device& device, double batch) const {
  if (device.memory <= 0 || batch <= 0 || moving <= 0) return 0;
  return std::max(std::floor(batch * (device.memory - reserve - fixed) / moving), 0.0);
}

}  // namespace omen::driple
