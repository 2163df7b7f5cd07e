// SPDX-License-Identifier: Apache-2.0
// The published network around any kind of layer: N/2 tied rounds, Set2Set, three dense layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "nets/layers.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::driple {

struct NetworkOptions {
  LayerOptions layer;
  std::int64_t outputs = 16;
  // A third layer takes the late half of the rounds over from the second, for transfer learning.
  bool late_layer = false;
  // Small random weights in many tied rounds leave little of what tells graphs apart. With this the
  // rounds start as averages over neighbours (doi:10.48550/arXiv.1504.00941), the unit open, and
  // the dense layers at their usual size.
  bool identity_start = false;
};

// Rounds of messages in graphs of this many nodes.
constexpr std::int64_t rounds_of(std::int64_t nodes) {
  return nodes < 4 ? 1 : nodes / 2;
}

// doi:10.1145/3530895. Tensors have the names of the published state dictionary. The first round
// has a layer of its own, all others share one.
class Network {
 public:
  // Draws weights from LibTorch's generator.
  explicit Network(const NetworkOptions& options);

  const NetworkOptions& options() const { return options_; }
  const torch_kit::StateDict& state() const { return state_; }
  // The mean of log(degree + 1) over the nodes of training, one number.
  at::Tensor mean_log_degree() const { return mean_log_degree_; }

  // [graphs, outputs].
  at::Tensor outputs(const TensorBatch& batch) const;

  // The same in two parts: states after the early half of the rounds, which transfer learning does
  // not change, and what follows from them.
  at::Tensor early_states(const TensorBatch& batch) const;
  at::Tensor late_outputs(const TensorBatch& batch, const at::Tensor& states) const;

  // Which tensors transfer learning trains: the late layer and the dense ones.
  static bool is_late(const std::string& name);

 private:
  void start_as_identity();
  at::Tensor read_out(const TensorBatch& batch, const at::Tensor& states) const;

  NetworkOptions options_;
  torch_kit::StateDict state_;
  at::Tensor mean_log_degree_;
  std::vector<std::unique_ptr<Layer>> layers_;
  UnitWeights unit_;
  at::Tensor cell_ih_, cell_hh_, cell_ih_bias_, cell_hh_bias_;
  std::vector<at::Tensor> dense_, dense_bias_;
};

// A network whose late half starts as the pretrained one and may learn other outputs.
std::unique_ptr<Network> with_late_layer(const Network& from, std::int64_t outputs);

}  // namespace omen::driple
