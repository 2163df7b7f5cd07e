// SPDX-License-Identifier: Apache-2.0
// Body, pooling and readout put together.
#include "network/network.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "network/propagation.hpp"

namespace omen::loadbalance {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;

PoolingOptions pooling_options(const NetworkOptions& o) {
  return {.kind = o.pooling,
          .propagates = o.body.kind != "mlp",
          .width = o.body.width,
          .steps = o.body.steps,
          .outputs = o.outputs,
          .gate_dropout = o.gate_dropout};
}

}  // namespace

Network::Network(const NetworkOptions& options)
    : options_(options),
      body_(make_body(options.body, state_)),
      pooling_(make_pooling(pooling_options(options), state_)) {
  add_readout();
}

void Network::add_readout() {
  const std::int64_t inputs = pooling_->width() + kAuxiliary;
  const auto parameter = [&](const std::string& name, const at::Tensor& tensor) {
    state_.add_parameter(name, tensor);
    readout_state_.add_parameter(name, tensor);
    return tensor;
  };
  const auto buffer = [&](const std::string& name, const at::Tensor& tensor) {
    state_.add_buffer(name, tensor);
    readout_state_.add_buffer(name, tensor);
    return tensor;
  };
  scale_ = parameter("readout.norm.weight", at::ones({inputs}));
  shift_ = parameter("readout.norm.bias", at::zeros({inputs}));
  running_mean_ = buffer("readout.norm.mean", at::zeros({inputs}));
  running_variance_ = buffer("readout.norm.variance", at::ones({inputs}));
  std::vector<std::int64_t> widths = {inputs, options_.hidden};
  if (options_.extended) widths.push_back(options_.body.width);
  widths.push_back(options_.outputs);
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string name = "readout." + std::to_string(i);
    const double bound = 1 / std::sqrt(static_cast<double>(widths[i]));
    layers_.emplace_back(
        parameter(name + ".weight", uniform_parameter({widths[i + 1], widths[i]}, bound)),
        parameter(name + ".bias", uniform_parameter({widths[i + 1]}, bound)));
  }
}

PlanOptions Network::plan_options(bool training) const {
  const bool drops = options_.body.message_dropout > 0 || options_.body.state_dropout > 0;
  const bool programl = options_.body.kind == "programl";
  return {.steps = options_.body.steps,
          .backward_edges = programl && options_.body.backward_edges,
          .refine = programl && !(training && drops),
          .forward = options_.body.kind == "gcn" || options_.body.kind == "gat" ||
                     options_.pooling == "topk" || options_.pooling == "diff"};
}

at::Tensor Network::pool(const GraphPlan& plan, bool training) const {
  return pooling_->run(plan, body_->run(plan, training), training);
}

at::Tensor Network::read_out(const at::Tensor& pooled, const at::Tensor& auxiliary,
                             bool training) const {
  at::Tensor x = at::cat({pooled, auxiliary}, 1);
  // One row has no variance to learn from.
  x = at::batch_norm(x, scale_, shift_, running_mean_, running_variance_, training && x.size(0) > 1,
                     kMomentum, kEpsilon, /*cudnn_enabled=*/false);
  for (std::size_t i = 0; i + 1 < layers_.size(); ++i)
    x = at::dropout(at::relu(at::linear(x, layers_[i].first, layers_[i].second)),
                    options_.readout_dropout, training);
  return at::linear(x, layers_.back().first, layers_.back().second);
}

}  // namespace omen::loadbalance
