// SPDX-License-Identifier: Apache-2.0
// The same graph convolution and recurrent unit, applied several times as one function.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "nets/group_batch.hpp"

namespace omen::driple {

struct StepWeights {
  at::Tensor weight, bias;              // of the convolution, [d, d] and [d]
  at::Tensor ih, hh, ih_bias, hh_bias;  // of the unit, in LibTorch's layout
};

// While one lives, tied steps of this thread take their memory for the backward pass from it and
// give it back with the graph, so that an epoch does not ask the system for the same pages again.
class KeptMemory {
 public:
  KeptMemory();
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  // Uninitialised numbers, of the innermost object of this thread where there is one.
  static at::Tensor floats(at::IntArrayRef shape);

 private:
  KeptMemory* outer_;
  std::vector<at::Tensor> pool_;
};

// `steps` times x = GRU(input x, hidden leaky_relu(A x W + b)) with the normalised adjacency A, on
// states [rows, d]. float32 on the CPU, differentiable once; tensors that ask for no gradient cost
// none. It works through blocks of graphs that stay in the cache for all steps.
at::Tensor tied_steps(std::shared_ptr<const GroupBatch> batch, const at::Tensor& states,
                      const StepWeights& weights, std::int64_t steps);

}  // namespace omen::driple
