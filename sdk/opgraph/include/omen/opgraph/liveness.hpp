// SPDX-License-Identifier: Apache-2.0
// How much memory the tensors between operations take while a step runs.
#ifndef OMEN_OPGRAPH_LIVENESS_HPP
#define OMEN_OPGRAPH_LIVENESS_HPP

#include "omen/opgraph/op_graph.hpp"

namespace omen::opgraph {

struct Liveness {
  double peak_bytes = 0;  // of activations and gradients of activations
  double kept_bytes = 0;  // alive where the forward pass ends and the backward pass starts
};

// A tensor lives from its operation to the last one that reads it, or reads a view of it.
Liveness liveness(const OpGraph& graph);

// Tensors of all micro-batches in flight together with weights, gradients, states and cache.
double step_bytes(const Job& job);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_LIVENESS_HPP
