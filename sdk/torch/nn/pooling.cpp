// SPDX-License-Identifier: Apache-2.0
// The five poolings of the ablation study.
#include "omen/torch/nn/pooling.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "index_tensor.hpp"
#include "omen/error.hpp"
#include "omen/torch/message_passing.hpp"
#include "omen/torch/nn/propagation.hpp"

namespace omen::torch_kit::nn {
namespace {

constexpr double kKeptShare = 0.8;  // of the nodes in one round of top-k
constexpr int kTopKRounds = 3;
constexpr std::int64_t kClusters = 512;  // of differentiable pooling

at::Tensor mean_of(const GraphPlan& plan, std::size_t level, const at::Tensor& rows) {
  return aggregate_sum(plan.levels[level].pool, rows, plan.levels[level].means);
}

// States behind the last step as one row for each node. Convolutions give them by node at once.
at::Tensor last_by_node(const GraphPlan& plan, const States& states) {
  const at::Tensor& last = states.back();
  return last.size(0) == plan.nodes ? last : plan.to_nodes(states.size() - 1, last);
}

at::Tensor node_mean(const GraphPlan& plan, const at::Tensor& nodes) {
  return segment_pool(nodes, plan.graph_offsets, Pool::kMean);
}

struct Layer {
  at::Tensor weight, bias;
  Layer() = default;
  Layer(StateDict& state, const std::string& name, std::int64_t outputs, std::int64_t inputs)
      : weight(add_linear(state, name + ".weight", outputs, inputs)),
        bias(uniform_parameter({outputs}, 1 / std::sqrt(static_cast<double>(inputs)))) {
    state.add_parameter(name + ".bias", bias);
  }
  at::Tensor operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }
};

// The sum over nodes of sigmoid(A [h0; hT]) * (B hT): one number for each output.
class GatedSum final : public Pooling {
 public:
  GatedSum(const PoolingOptions& o, StateDict& state)
      : options_(o),
        gate_(state, "pooling.gate", o.outputs, 2 * o.width),
        transform_(state, "pooling.transform", o.outputs, o.width) {}
  std::int64_t width() const override { return options_.outputs; }
  at::Tensor run(const GraphPlan& plan, const States& states, bool training) const override {
    const at::Tensor first = plan.to_nodes(0, states.front());
    const at::Tensor last = last_by_node(plan, states);
    const auto drop = [&](const at::Tensor& x) {
      return at::dropout(x, options_.gate_dropout, training);
    };
    const at::Tensor share = at::sigmoid(gate_(drop(at::cat({first, last}, 1))));
    return segment_pool(share * transform_(drop(last)), plan.graph_offsets, Pool::kSum);
  }

 private:
  PoolingOptions options_;
  Layer gate_, transform_;
};

// Means of the first and the last states, or of the embeddings alone.
class Mean final : public Pooling {
 public:
  explicit Mean(const PoolingOptions& o) : width_((o.propagates ? 2 : 1) * o.width) {}
  std::int64_t width() const override { return width_; }
  at::Tensor run(const GraphPlan& plan, const States& states, bool) const override {
    const at::Tensor first = mean_of(plan, 0, states.front());
    if (states.size() == 1) return first;
    const at::Tensor& last = states.back();
    const std::size_t level = states.size() - 1;
    const bool by_row = plan.levels[level].rows == last.size(0);
    return at::cat({first, by_row ? mean_of(plan, level, last) : node_mean(plan, last)}, 1);
  }

 private:
  std::int64_t width_;
};

// Means after every step, behind each other.
class Skips final : public Pooling {
 public:
  explicit Skips(const PoolingOptions& o) : width_(o.steps * o.width) {}
  std::int64_t width() const override { return width_; }
  at::Tensor run(const GraphPlan& plan, const States& states, bool) const override {
    std::vector<at::Tensor> means;
    for (std::size_t t = 1; t < states.size(); ++t)
      means.push_back(plan.levels[t].rows == states[t].size(0) ? mean_of(plan, t, states[t])
                                                               : node_mean(plan, states[t]));
    return at::cat(means, 1);
  }

 private:
  std::int64_t width_;
};

// Three rounds that keep the best four fifths of the nodes, with one set of weights.
class TopK final : public Pooling {
 public:
  TopK(const PoolingOptions& o, StateDict& state)
      : width_(o.width),
        score_(add_linear(state, "pooling.score", 1, o.width)),
        weight_(add_linear(state, "pooling.convolution.weight", o.width, o.width)),
        bias_(at::zeros({o.width})) {
    state.add_parameter("pooling.convolution.bias", bias_);
  }
  std::int64_t width() const override { return width_; }

  at::Tensor run(const GraphPlan& plan, const States& states, bool) const override {
    at::Tensor x = last_by_node(plan, states), offsets = plan.graph_offsets;
    Adjacency edges = plan.forward;
    for (int round = 0; round < kTopKRounds; ++round) {
      const at::Tensor score = at::linear(x, score_ / score_.norm()).squeeze(1);
      const Kept kept = keep_best(score.detach().contiguous(), offsets, edges);
      x = x.index_select(0, kept.nodes) * at::tanh(score.index_select(0, kept.nodes)).unsqueeze(1);
      offsets = kept.offsets;
      edges = kept.edges;
      const ConvolutionEdges loops = convolution_edges(edges);
      x = at::relu(aggregate_sum(loops.adjacency, at::linear(x, weight_), loops.weights) + bias_);
    }
    return segment_pool(x, offsets, Pool::kMean);
  }

 private:
  struct Kept {
    at::Tensor nodes, offsets;
    Adjacency edges;
  };

  // The best nodes of each graph in the order of the graph, and the edges among them.
  static Kept keep_best(const at::Tensor& score, const at::Tensor& offsets,
                        const Adjacency& edges) {
    const float* value = score.const_data_ptr<float>();
    const std::int64_t* begin = offsets.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> nodes, ends = {0}, place(static_cast<std::size_t>(score.numel()), -1);
    for (std::int64_t g = 0; g + 1 < offsets.numel(); ++g) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(begin[g + 1] - begin[g]));
      std::iota(order.begin(), order.end(), begin[g]);
      const auto count =
          static_cast<std::ptrdiff_t>(std::ceil(kKeptShare * static_cast<double>(order.size())));
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t a, std::int64_t b) { return value[a] > value[b]; });
      std::sort(order.begin(), order.begin() + count);
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        place[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] =
            static_cast<std::int64_t>(nodes.size());
        nodes.push_back(order[static_cast<std::size_t>(i)]);
      }
      ends.push_back(static_cast<std::int64_t>(nodes.size()));
    }
    const at::Tensor targets = edges.targets();
    const std::int64_t* from = edges.sources().const_data_ptr<std::int64_t>();
    const std::int64_t* to = targets.const_data_ptr<std::int64_t>();
    std::vector<std::int64_t> source, target;
    for (std::int64_t e = 0; e < edges.num_edges(); ++e) {
      const std::int64_t a = place[static_cast<std::size_t>(from[e])],
                         b = place[static_cast<std::size_t>(to[e])];
      if (a < 0 || b < 0) continue;
      source.push_back(a);
      target.push_back(b);
    }
    const auto count = static_cast<std::int64_t>(nodes.size());
    return {index_tensor(nodes), index_tensor(ends),
            Adjacency::from_edges(index_tensor(source), index_tensor(target), count, count)};
  }

  std::int64_t width_;
  at::Tensor score_, weight_, bias_;
};

// Differentiable pooling into clusters, then the mean over clusters. The soft assignment of a node
// sums to one, so that this mean is the sum of the node embeddings over the number of clusters
// whatever the assignment is: neither it nor a dense adjacency matrix is computed.
class Diff final : public Pooling {
 public:
  Diff(const PoolingOptions& o, StateDict& state) : width_(o.width) {
    for (int layer = 0; layer < 2; ++layer)
      layers_[layer] = Layer(state, "pooling.embed" + std::to_string(layer + 1), o.width, o.width);
  }
  std::int64_t width() const override { return width_; }
  at::Tensor run(const GraphPlan& plan, const States& states, bool) const override {
    at::Tensor x = last_by_node(plan, states);
    for (const Layer& layer : layers_) x = at::relu(layer(aggregate_sum(plan.forward, x)));
    return segment_pool(x, plan.graph_offsets, Pool::kSum) / static_cast<double>(kClusters);
  }

 private:
  std::int64_t width_;
  Layer layers_[2];
};

}  // namespace

std::unique_ptr<Pooling> make_pooling(const PoolingOptions& options, StateDict& state) {
  if (options.kind == "skips" && !options.propagates)
    throw Error(OMEN_INVALID_ARGUMENT, "skips need a body with steps, mlp has none",
                "Take the pooling mean.");
  if (options.kind == "gated") return std::make_unique<GatedSum>(options, state);
  if (options.kind == "mean") return std::make_unique<Mean>(options);
  if (options.kind == "skips") return std::make_unique<Skips>(options);
  if (options.kind == "topk") return std::make_unique<TopK>(options, state);
  if (options.kind == "diff") return std::make_unique<Diff>(options, state);
  throw Error(OMEN_INVALID_ARGUMENT, "pooling '" + options.kind + "' is unknown",
              "Take gated, mean, skips, topk or diff.");
}

}  // namespace omen::torch_kit::nn
