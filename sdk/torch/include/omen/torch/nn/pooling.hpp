// SPDX-License-Identifier: Apache-2.0
// From the states of nodes to one row for each graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "omen/torch/nn/bodies.hpp"
#include "omen/torch/nn/graph_plan.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit::nn {

struct PoolingOptions {
  std::string kind = "skips";  // gated, mean, skips, topk or diff
  bool propagates = true;      // the body has steps behind the embeddings
  std::int64_t width = 64;     // of the states
  std::int64_t steps = 6;
  std::int64_t outputs = 1;   // of the network: the width of a gated sum
  double gate_dropout = 0.2;  // of the inputs of a gated sum
};

class Pooling {
 public:
  virtual ~Pooling() = default;
  virtual std::int64_t width() const = 0;
  // [graphs, width()]
  virtual at::Tensor run(const GraphPlan& plan, const States& states, bool training) const = 0;
};

std::unique_ptr<Pooling> make_pooling(const PoolingOptions& options, StateDict& state);

}  // namespace omen::torch_kit::nn
