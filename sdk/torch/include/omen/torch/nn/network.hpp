// SPDX-License-Identifier: Apache-2.0
// The family of networks that predict numbers and classes from a graph and numbers beside it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "omen/torch/nn/bodies.hpp"
#include "omen/torch/nn/graph_plan.hpp"
#include "omen/torch/nn/pooling.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit::nn {

struct NetworkOptions {
  BodyOptions body;
  std::string pooling = "skips";
  bool extended = true;        // the readout has a second hidden layer
  std::int64_t hidden = 192;   // width of its first hidden layer
  std::int64_t auxiliary = 0;  // numbers beside the graph that the readout takes in
  std::int64_t outputs = 1;    // numbers that are read out
  double readout_dropout = 0.3;
  double gate_dropout = 0.2;
};

class Network {
 public:
  explicit Network(const NetworkOptions& options);

  // What the plan of a graph must be like. Refinement is exact unless states are dropped.
  PlanOptions plan_options(bool training) const;

  // Graphs to rows, [graphs, pooled width].
  at::Tensor pool(const GraphPlan& plan, bool training) const;
  // Rows of graphs and auxiliary numbers [rows, auxiliary] to [rows, outputs].
  at::Tensor read_out(const at::Tensor& pooled, const at::Tensor& auxiliary, bool training) const;

  // Answers for rows of a graph each and auxiliary numbers [rows, auxiliary], [rows, outputs]. Rows
  // without a graph (null) have NaN. Graphs that the network cannot tell apart are read once;
  // `step` is called with the share that is done, between groups of them.
  at::Tensor outputs(const std::vector<const TokenGraph*>& graphs, const at::Tensor& auxiliary,
                     const std::function<void(double)>& step) const;

  const StateDict& state() const { return state_; }
  // The tensors behind the pooling alone, over the same memory.
  const StateDict& readout_state() const { return readout_state_; }
  const NetworkOptions& options() const { return options_; }
  std::int64_t pooled_width() const { return pooling_->width(); }

 private:
  void add_readout();

  NetworkOptions options_;
  StateDict state_, readout_state_;
  std::unique_ptr<Body> body_;
  std::unique_ptr<Pooling> pooling_;
  at::Tensor scale_, shift_, running_mean_, running_variance_;
  std::vector<std::pair<at::Tensor, at::Tensor>> layers_;  // weight and bias
};

}  // namespace omen::torch_kit::nn
