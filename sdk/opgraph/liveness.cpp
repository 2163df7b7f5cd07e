// SPDX-License-Identifier: Apache-2.0
// One walk over the operations in the order in which they run.
#include "omen/opgraph/liveness.hpp"

#include <algorithm>

namespace omen::opgraph {
namespace {

// Without an output of its own, such an operation hands on the memory of its first input.
bool shares_memory(const Op& op) {
  if (op.output_bytes > 0) return false;
  switch (op.kind) {
    case OpClass::view:
    case OpClass::activation:
    case OpClass::elementwise:
    case OpClass::norm:
    case OpClass::softmax:
    case OpClass::move:
    case OpClass::all_reduce:
      return true;
    default:
      return false;
  }
}

}  // namespace

Liveness liveness(const OpGraph& graph) {
  const std::size_t count = graph.ops.size();
  std::vector<std::int32_t> owner(count), last(count);
  for (std::size_t i = 0; i < count; ++i) owner[i] = last[i] = static_cast<std::int32_t>(i);
  std::vector<char> settled(count, 0);
  // Edges lead forward, and those of an operation stand together: owners are known before readers.
  for (const Edge& edge : graph.edges) {
    const auto src = static_cast<std::size_t>(edge.src), dst = static_cast<std::size_t>(edge.dst);
    if (!settled[dst] && shares_memory(graph.ops[dst])) owner[dst] = owner[src];
    settled[dst] = 1;
    std::int32_t& end = last[static_cast<std::size_t>(owner[src])];
    end = std::max(end, edge.dst);
  }
  std::vector<double> freed(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    freed[static_cast<std::size_t>(last[i])] += graph.ops[i].output_bytes;
  Liveness found;
  double live = 0;
  bool forward = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (forward && graph.ops[i].phase == Phase::backward) {
      found.kept_bytes = live;
      forward = false;
    }
    live += graph.ops[i].output_bytes;
    found.peak_bytes = std::max(found.peak_bytes, live);
    live -= freed[i];
  }
  return found;
}

double step_bytes(const Job& job) {
  const Liveness tensors = liveness(job.graph);
  const StepFacts& facts = job.facts;
  return tensors.peak_bytes + tensors.kept_bytes * std::max(0.0, facts.in_flight - 1) +
         facts.weight_bytes + facts.gradient_bytes + facts.optimizer_bytes + facts.cache_bytes;
}

}  // namespace omen::opgraph
