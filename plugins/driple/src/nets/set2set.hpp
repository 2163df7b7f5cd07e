// SPDX-License-Identifier: Apache-2.0
// The readout of the published networks: a memory cell that looks at all nodes again and again.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace omen::driple {

struct LstmWeights {
  at::Tensor ih, hh, ih_bias, hh_bias;  // [4d, 2d], [4d, d], [4d], [4d]
};

// Set2Set, arXiv:1511.06391, over graphs of `nodes` rows each: states [graphs * nodes, d] to
// [graphs, 2d], the query first and what it read behind it. float32 on the CPU, once
// differentiable.
at::Tensor set2set(const at::Tensor& states, std::int64_t nodes, std::int64_t steps,
                   const LstmWeights& weights);

}  // namespace omen::driple
