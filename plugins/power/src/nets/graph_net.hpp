// SPDX-License-Identifier: Apache-2.0
// Op graphs of ONNX models and transformers as layers that an array runs.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <string>
#include <vector>

#include "nets/net.hpp"

namespace omen::power {

struct GraphNet {
  Net net;
  std::vector<std::string> warnings;
};

// A forward pass. `images` of its first sizes are a batch that the network repeats; where they do
// not divide every operation, and for transformers, the layers hold the whole batch as rows.
// `weights`: precision of the weights in memory. Products keep their MACs; what a causal mask
// hides is computed, as an array without a fused attention does. OMEN_INVALID_DATA above the sizes
// that tables hold.
GraphNet net_of_graph(const opgraph::Job& job, std::int64_t images, opgraph::Precision weights);

}  // namespace omen::power
