// SPDX-License-Identifier: Apache-2.0
// What turns the embedded texts of a graph into states: ProGraML's propagation, graph convolution,
// graph attention, or nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "omen/torch/nn/graph_plan.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit::nn {

struct BodyOptions {
  std::string kind = "programl";  // programl, gcn, gat or mlp
  std::int64_t words = 1;         // rows of the embedding
  std::int64_t edge_kinds = 1;
  std::int64_t width = 64;
  std::int64_t steps = 6;
  bool backward_edges = true;  // only programl looks at them
  bool gates = true;
  double message_dropout = 0.3;
  double state_dropout = 0.3;
};

// States by level of a plan: steps + 1 tensors [rows, width], the first the embeddings. A body
// without steps gives the embeddings alone.
using States = std::vector<at::Tensor>;

class Body {
 public:
  virtual ~Body() = default;
  virtual States run(const GraphPlan& plan, bool training) const = 0;
};

// Adds its tensors to `state`: `embedding`, and `layer1.` and `layer2.` ones, used in turn.
std::unique_ptr<Body> make_body(const BodyOptions& options, StateDict& state);

// A weight [outputs, inputs], drawn as LibTorch draws linear maps.
at::Tensor add_linear(StateDict& state, const std::string& name, std::int64_t outputs,
                      std::int64_t inputs);

// A graph convolution x' = D^-1/2 (A + I) D^-1/2 x W^T + b over edges that include self loops.
struct ConvolutionEdges {
  Adjacency adjacency;  // with self loops
  at::Tensor weights;
};
ConvolutionEdges convolution_edges(const Adjacency& edges);

}  // namespace omen::torch_kit::nn
