// SPDX-License-Identifier: Apache-2.0
// Weights under their published names, and the order of the parts.
#include "nets/network.hpp"

#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "nets/kernels.hpp"
#include "nets/set2set.hpp"
#include "omen/torch/nn/propagation.hpp"

namespace omen::driple {
namespace {

constexpr int kDenseLayers = 3;
constexpr const char* kLateLayer = "conv_layers.2.";
constexpr const char* kDense = "graph_read_out.mlp.";

}  // namespace

Network::Network(const NetworkOptions& options)
    : options_(options), mean_log_degree_(at::ones({1})) {
  const std::int64_t d = options.layer.hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(d));
  const auto draw = [&](const std::string& name, at::IntArrayRef shape, double most) {
    at::Tensor tensor = torch_kit::nn::uniform_parameter(shape, most);
    state_.add_parameter(name, tensor);
    return tensor;
  };
  if (options.layer.kind == LayerKind::pna) state_.add_buffer("mean_log_degree", mean_log_degree_);
  for (int i = 0; i < (options.late_layer ? 3 : 2); ++i)
    layers_.push_back(make_layer(options.layer, i == 0 ? std::int64_t{kGroupFeatures} : d,
                                 mean_log_degree_, state_,
                                 "conv_layers." + std::to_string(i) + "."));
  unit_ = {draw("gru.gru.weight_ih_l0", {3 * d, d}, bound),
           draw("gru.gru.weight_hh_l0", {3 * d, d}, bound),
           draw("gru.gru.bias_ih_l0", {3 * d}, bound), draw("gru.gru.bias_hh_l0", {3 * d}, bound)};
  const std::string cell = "graph_read_out.set2set.lstm.";
  cell_ih_ = draw(cell + "weight_ih_l0", {4 * d, 2 * d}, bound);
  cell_hh_ = draw(cell + "weight_hh_l0", {4 * d, d}, bound);
  cell_ih_bias_ = draw(cell + "bias_ih_l0", {4 * d}, bound);
  cell_hh_bias_ = draw(cell + "bias_hh_l0", {4 * d}, bound);
  for (int i = 0; i < kDenseLayers; ++i) {
    const std::int64_t from = i == 0 ? 2 * d : d, to = i == kDenseLayers - 1 ? options.outputs : d;
    const std::string name = kDense + ("fully_connected." + std::to_string(i)) + ".linear.";
    // Xavier's bound with gain 1 / inputs, as published.
    dense_.push_back(draw(name + "weight", {to, from},
                          std::sqrt(6.0 / static_cast<double>(from + to)) / double(from)));
    dense_bias_.push_back(at::zeros({to}));
    state_.add_parameter(name + "bias", dense_bias_.back());
  }
}

bool Network::is_late(const std::string& name) {
  return name.rfind(kLateLayer, 0) == 0 || name.rfind(kDense, 0) == 0;
}

at::Tensor Network::read_out(const TensorBatch& batch, const at::Tensor& states) const {
  const std::int64_t nodes = batch.graphs->nodes;
  at::Tensor x = set2set(states, nodes, nodes, {cell_ih_, cell_hh_, cell_ih_bias_, cell_hh_bias_});
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    x = at::linear(x, dense_[i], dense_bias_[i]);
    x = i + 1 == dense_.size() ? at::leaky_relu(x, kernels::kLeak) : at::relu(x);
  }
  return x;
}

at::Tensor Network::early_states(const TensorBatch& batch) const {
  const std::int64_t early = rounds_of(batch.graphs->nodes) / 2;
  const at::Tensor first = layers_[0]->rounds(batch, batch.features, unit_, 1);
  return early > 1 ? layers_[1]->rounds(batch, first, unit_, early - 1) : first;
}

at::Tensor Network::late_outputs(const TensorBatch& batch, const at::Tensor& states) const {
  const std::int64_t rounds = rounds_of(batch.graphs->nodes);
  const std::int64_t late = rounds - std::max<std::int64_t>(1, rounds / 2);
  return read_out(batch, layers_.back()->rounds(batch, states, unit_, late));
}

at::Tensor Network::outputs(const TensorBatch& batch) const {
  return late_outputs(batch, early_states(batch));
}

}  // namespace omen::driple
