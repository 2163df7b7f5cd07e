// SPDX-License-Identifier: Apache-2.0
// Weights under their published names, and the order of the parts.
#include "nets/network.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
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
// Of the update gate: a state keeps a third of itself over 50 rounds.
constexpr double kOpenGate = 4;

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
    // Xavier's bound; the published gain is 1 / inputs.
    const double gain = options.identity_start ? 1 : 1 / static_cast<double>(from);
    dense_.push_back(
        draw(name + "weight", {to, from}, gain * std::sqrt(6.0 / static_cast<double>(from + to))));
    dense_bias_.push_back(at::zeros({to}));
    state_.add_parameter(name + "bias", dense_bias_.back());
  }
  if (options.identity_start) start_as_identity();
}

void Network::start_as_identity() {
  const at::NoGradGuard no_graph;
  const std::int64_t d = options_.layer.hidden;
  for (const torch_kit::NamedTensor& entry : state_.entries()) {
    if (entry.name.rfind("conv_layers.", 0) != 0 || entry.name.rfind("conv_layers.0.", 0) == 0)
      continue;
    at::Tensor tensor = entry.tensor;
    if (options_.layer.kind == LayerKind::gcn && tensor.dim() == 2) tensor.copy_(at::eye(d));
    if (options_.layer.kind == LayerKind::gcn && tensor.dim() == 1) tensor.zero_();
  }
  unit_.ih_bias.narrow(0, d, d).fill_(kOpenGate);
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

std::unique_ptr<Network> with_late_layer(const Network& from, std::int64_t outputs) {
  NetworkOptions options = from.options();
  options.late_layer = true;
  options.outputs = outputs;
  auto network = std::make_unique<Network>(options);
  const std::string late = "conv_layers.2.",
                    last = from.options().late_layer ? late : "conv_layers.1.";
  const at::NoGradGuard no_graph;
  for (const torch_kit::NamedTensor& entry : network->state().entries()) {
    const bool is_late = entry.name.rfind(late, 0) == 0;
    const at::Tensor& given =
        from.state().at(is_late ? last + entry.name.substr(late.size()) : entry.name);
    // Outputs of another number start anew, like those of a network from scratch.
    if (given.sizes() == entry.tensor.sizes()) at::Tensor(entry.tensor).copy_(given);
  }
  return network;
}

}  // namespace omen::driple
