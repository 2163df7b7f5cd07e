// SPDX-License-Identifier: Apache-2.0
// Body, pooling and readout put together.
#include "omen/torch/nn/network.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "index_tensor.hpp"
#include "omen/torch/nn/propagation.hpp"

namespace omen::torch_kit::nn {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;
constexpr std::int64_t kGroupNodes = 4096;  // of graphs that are read together

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
  const std::int64_t inputs = pooling_->width() + options_.auxiliary;
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
  return {.edge_kinds = options_.body.edge_kinds,
          .steps = options_.body.steps,
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

at::Tensor Network::outputs(const std::vector<const TokenGraph*>& graphs,
                            const at::Tensor& auxiliary,
                            const std::function<void(double)>& step) const {
  const at::NoGradGuard no_grad;
  const PlanOptions plan = plan_options(false);
  const DistinctGraphs distinct = distinct_graphs(graphs, plan);
  const std::vector<const TokenGraph*>& each = distinct.graphs;
  std::vector<at::Tensor> pooled;
  for (std::size_t begin = 0; begin < each.size();) {
    step(static_cast<double>(begin) / static_cast<double>(each.size()));
    std::size_t end = begin;
    for (std::int64_t nodes = 0;
         end < each.size() && (end == begin || nodes + each[end]->nodes() <= kGroupNodes); ++end)
      nodes += each[end]->nodes();
    const auto at = [&](std::size_t place) {
      return each.begin() + static_cast<std::ptrdiff_t>(place);
    };
    pooled.push_back(pool(plan_graphs({at(begin), at(end)}, plan), false));
    begin = end;
  }
  at::Tensor out = at::full({static_cast<std::int64_t>(graphs.size()), options_.outputs},
                            std::numeric_limits<float>::quiet_NaN());
  std::vector<std::int64_t> known, graph;
  for (std::size_t row = 0; row < graphs.size(); ++row) {
    if (!graphs[row]) continue;
    known.push_back(static_cast<std::int64_t>(row));
    graph.push_back(distinct.number[row]);
  }
  if (known.empty()) return out;
  const at::Tensor rows = index_tensor(known);
  out.index_copy_(0, rows,
                  read_out(at::cat(pooled).index_select(0, index_tensor(graph)),
                           auxiliary.index_select(0, rows), false));
  return out;
}

}  // namespace omen::torch_kit::nn
