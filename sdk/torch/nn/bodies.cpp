// SPDX-License-Identifier: Apache-2.0
// The four bodies of the ablation study.
#include "omen/torch/nn/bodies.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "omen/error.hpp"
#include "omen/torch/message_passing.hpp"
#include "omen/torch/nn/propagation.hpp"

namespace omen::torch_kit::nn {
namespace {

constexpr double kAttentionSlope = 0.2;

at::Tensor add_embedding(StateDict& state, std::int64_t words, std::int64_t width) {
  at::Tensor table = at::randn({words, width});
  state.add_parameter("embedding", table);
  return table;
}

class EmbeddingOnly final : public Body {
 public:
  EmbeddingOnly(const BodyOptions& o, StateDict& state)
      : embedding_(add_embedding(state, o.words, o.width)) {}
  States run(const GraphPlan& plan, bool) const override {
    return {at::embedding(embedding_, plan.tokens)};
  }

 private:
  at::Tensor embedding_;
};

class Programl final : public Body {
 public:
  Programl(const BodyOptions& o, StateDict& state)
      : embedding_(add_embedding(state, o.words, o.width)),
        layers_{Propagation(layer_options(o), state, "layer1."),
                Propagation(layer_options(o), state, "layer2.")} {}

  States run(const GraphPlan& plan, bool training) const override {
    States states = {at::embedding(embedding_, plan.tokens)};
    at::Tensor gates[2];
    for (std::size_t t = 0; t < plan.steps.size(); ++t) {
      const Propagation& layer = layers_[t % 2];
      // Every use of a layer draws its own mask of the sinusoids.
      const bool fresh = t < 2 || (training && layer.options().message_dropout > 0);
      if (fresh) gates[t % 2] = layer.gates(*plan.steps[t], training);
      states.push_back(layer.step(plan.steps[t], states.back(), gates[t % 2], training));
    }
    return states;
  }

 private:
  static PropagationOptions layer_options(const BodyOptions& o) {
    return {.width = o.width,
            .text_width = o.width - o.width % 2,
            .relations = (o.backward_edges ? 2 : 1) * o.edge_kinds,
            .gates = o.gates,
            .message_dropout = o.message_dropout,
            .state_dropout = o.state_dropout};
  }

  at::Tensor embedding_;
  Propagation layers_[2];
};

// Two layers in turn over nodes and forward edges with self loops, no nonlinearity between them.
class Convolutions : public Body {
 public:
  Convolutions(const BodyOptions& o, StateDict& state)
      : embedding_(add_embedding(state, o.words, o.width)), steps_(o.steps) {
    for (int layer = 0; layer < 2; ++layer) {
      const std::string prefix = "layer" + std::to_string(layer + 1) + ".";
      weight_[layer] = add_linear(state, prefix + "weight", o.width, o.width);
      bias_[layer] = at::zeros({o.width});
      state.add_parameter(prefix + "bias", bias_[layer]);
    }
  }

  States run(const GraphPlan& plan, bool) const override {
    const ConvolutionEdges edges = convolution_edges(plan.forward);
    States states = {at::embedding(embedding_, plan.tokens)};
    at::Tensor h = plan.to_nodes(0, states[0]);
    for (std::int64_t t = 0; t < steps_; ++t) {
      h = step(static_cast<int>(t % 2), edges, at::linear(h, weight_[t % 2]));
      h = h + bias_[t % 2];
      states.push_back(h);
    }
    return states;
  }

 protected:
  virtual at::Tensor step(int layer, const ConvolutionEdges& edges, const at::Tensor& x) const = 0;

 private:
  at::Tensor embedding_, weight_[2], bias_[2];
  std::int64_t steps_;
};

class Gcn final : public Convolutions {
 public:
  using Convolutions::Convolutions;

 protected:
  at::Tensor step(int, const ConvolutionEdges& edges, const at::Tensor& x) const override {
    return aggregate_sum(edges.adjacency, x, edges.weights);
  }
};

// One head of attention, doi:10.48550/arXiv.1710.10903.
class Gat final : public Convolutions {
 public:
  Gat(const BodyOptions& o, StateDict& state) : Convolutions(o, state) {
    for (int layer = 0; layer < 2; ++layer) {
      const std::string prefix = "layer" + std::to_string(layer + 1) + ".";
      from_[layer] = add_linear(state, prefix + "attention_source", 1, o.width);
      to_[layer] = add_linear(state, prefix + "attention_target", 1, o.width);
    }
  }

 protected:
  at::Tensor step(int layer, const ConvolutionEdges& edges, const at::Tensor& x) const override {
    const at::Tensor score = gather_sources(edges.adjacency, at::linear(x, from_[layer])) +
                             gather_targets(edges.adjacency, at::linear(x, to_[layer]));
    const at::Tensor attention = segment_softmax(at::leaky_relu(score.squeeze(1), kAttentionSlope),
                                                 edges.adjacency.by_target().offsets);
    return aggregate_sum(edges.adjacency, x, attention);
  }

 private:
  at::Tensor from_[2], to_[2];
};

}  // namespace

at::Tensor add_linear(StateDict& state, const std::string& name, std::int64_t outputs,
                      std::int64_t inputs) {
  at::Tensor weight =
      uniform_parameter({outputs, inputs}, 1 / std::sqrt(static_cast<double>(inputs)));
  state.add_parameter(name, weight);
  return weight;
}

ConvolutionEdges convolution_edges(const Adjacency& edges) {
  const at::Tensor nodes = at::arange(edges.num_targets(), at::TensorOptions().dtype(at::kLong));
  ConvolutionEdges out;
  out.adjacency =
      Adjacency::from_edges(at::cat({edges.sources(), nodes}), at::cat({edges.targets(), nodes}),
                            edges.num_sources(), edges.num_targets());
  out.weights = gcn_weights(out.adjacency);
  return out;
}

std::unique_ptr<Body> make_body(const BodyOptions& options, StateDict& state) {
  if (options.kind == "programl") return std::make_unique<Programl>(options, state);
  if (options.kind == "gcn") return std::make_unique<Gcn>(options, state);
  if (options.kind == "gat") return std::make_unique<Gat>(options, state);
  if (options.kind == "mlp") return std::make_unique<EmbeddingOnly>(options, state);
  throw Error(OMEN_INVALID_ARGUMENT, "body '" + options.kind + "' is unknown",
              "Take programl, gcn, gat or mlp.");
}

}  // namespace omen::torch_kit::nn
