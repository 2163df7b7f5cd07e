// SPDX-License-Identifier: Apache-2.0
// Layers by their published formulas, on edge lists; errors of the published programs are mended.
#include "nets/layers.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "nets/kernels.hpp"
#include "nets/tied_steps.hpp"
#include "omen/error.hpp"
#include "omen/torch/message_passing.hpp"
#include "omen/torch/nn/propagation.hpp"

namespace omen::driple {
namespace {

using torch_kit::segment_pool;
using torch_kit::segment_softmax;
using torch_kit::StateDict;
using torch_kit::nn::uniform_parameter;

constexpr std::int64_t kHeads = 4;   // of attention
constexpr std::int64_t kTowers = 4;  // of pna
constexpr double kAttentionLeak = 0.2;
constexpr double kAttentionGain = 0.1414;  // of Xavier's bound
constexpr double kFirstEpsilon = 0.1;      // weight of a node itself in gin
constexpr double kDeviationFloor = 1e-5;   // under the root of a deviation

constexpr std::array<std::string_view, 4> kKindWords = {"gcn", "gat", "gin", "pna"};
constexpr std::array<std::string_view, 6> kAggregatorWords = {"sum", "mean", "max",
                                                              "min", "std",  "var"};
constexpr std::array<std::string_view, 3> kScalerWords = {"identity", "amplification",
                                                          "attenuation"};

template <class Enum, std::size_t N>
std::vector<Enum> named(const std::array<std::string_view, N>& table, std::string_view words,
                        const char* what) {
  std::vector<Enum> found;
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    const std::string_view one = words.substr(0, comma);
    words.remove_prefix(std::min(words.size(), comma + 1));
    std::size_t i = 0;
    while (i < N && table[i] != one) ++i;
    if (i == N) {
      std::string all;
      for (const std::string_view each : table)
        all += (all.empty() ? "" : ", ") + std::string(each);
      throw Error(OMEN_INVALID_ARGUMENT,
                  std::string(what) + " '" + std::string(one) + "' is unknown",
                  "Take some of " + all + ".");
    }
    found.push_back(static_cast<Enum>(i));
  }
  if (found.empty()) throw Error(OMEN_INVALID_ARGUMENT, std::string("there is no ") + what);
  return found;
}

at::Tensor parameter(StateDict& state, const std::string& name, at::Tensor tensor) {
  state.add_parameter(name, tensor);
  return tensor;
}

at::Tensor drawn(StateDict& state, const std::string& name, at::IntArrayRef shape, double bound) {
  return parameter(state, name, uniform_parameter(shape, bound));
}

double xavier(std::int64_t inputs, std::int64_t outputs, double gain) {
  return gain * std::sqrt(6.0 / static_cast<double>(inputs + outputs));
}

at::Tensor filled_up(const at::Tensor& x, std::int64_t width) {
  return at::constant_pad_nd(x, {0, width - x.size(1)});
}

// leaky_relu(A x W + b) with the normalised adjacency, arXiv:1609.02907.
class Gcn final : public Layer {
 public:
  Gcn(std::int64_t inputs, std::int64_t hidden, StateDict& state, const std::string& prefix) {
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    weight_ = drawn(state, prefix + "W", {inputs, hidden}, bound);
    bias_ = drawn(state, prefix + "b", {hidden}, bound);
  }
  at::Tensor rounds(const TensorBatch& batch, const at::Tensor& states, const UnitWeights& unit,
                    std::int64_t steps) const override {
    const std::int64_t hidden = weight_.size(1);
    if (states.size(1) == hidden)
      return tied_steps(batch.graphs, states,
                        {weight_, bias_, unit.ih, unit.hh, unit.ih_bias, unit.hh_bias}, steps);
    // Zeros in rows of W meet the zeros that fill up the states.
    const at::Tensor weight = at::constant_pad_nd(weight_, {0, 0, 0, hidden - weight_.size(0)});
    return tied_steps(batch.graphs, filled_up(states, hidden),
                      {weight, bias_, unit.ih, unit.hh, unit.ih_bias, unit.hh_bias}, steps);
  }

 private:
  at::Tensor weight_, bias_;
};

// Layers that are made of LibTorch's operators: each round by itself.
class MessageLayer : public Layer {
 public:
  at::Tensor rounds(const TensorBatch& batch, const at::Tensor& states, const UnitWeights& unit,
                    std::int64_t steps) const override {
    at::Tensor x = states;
    for (std::int64_t s = 0; s < steps; ++s) {
      const at::Tensor y = messages(batch, x);
      x = at::gru_cell(filled_up(x, y.size(1)), y, unit.ih, unit.hh, unit.ih_bias, unit.hh_bias);
    }
    return x;
  }

 protected:
  virtual at::Tensor messages(const TensorBatch& batch, const at::Tensor& states) const = 0;
};

// Attention to neighbours, arXiv:1710.10903: scores belong to pairs and are normalised over the
// neighbours of each node.
class Gat final : public MessageLayer {
 public:
  Gat(std::int64_t inputs, std::int64_t hidden, StateDict& state, const std::string& prefix)
      : width_(hidden / kHeads) {
    weight_ = drawn(state, prefix + "W", {inputs, hidden}, xavier(inputs, width_, kAttentionGain));
    const double bound = xavier(2 * width_, 1, kAttentionGain);
    own_ = drawn(state, prefix + "own", {kHeads, width_}, bound);
    other_ = drawn(state, prefix + "other", {kHeads, width_}, bound);
  }
  at::Tensor messages(const TensorBatch& batch, const at::Tensor& states) const override {
    const at::Tensor h = at::mm(states, weight_);
    const at::Tensor by_head = h.view({h.size(0), kHeads, width_});
    const at::Tensor own = (by_head * own_).sum(2), other = (by_head * other_).sum(2);
    const torch_kit::Adjacency& edges = batch.adjacency;
    const at::Tensor score =
        at::leaky_relu(gather_targets(edges, own) + gather_sources(edges, other), kAttentionLeak);
    const at::Tensor attention = segment_softmax(score, edges.by_target().offsets);
    return at::elu(aggregate_sum(edges, h, attention));
  }

 private:
  std::int64_t width_;
  at::Tensor weight_, own_, other_;
};

// Two dense layers over the sum of neighbours and a weighted self, arXiv:1810.00826.
class Gin final : public MessageLayer {
 public:
  Gin(std::int64_t inputs, std::int64_t hidden, StateDict& state, const std::string& prefix) {
    const std::int64_t middle = std::max(inputs, hidden);
    epsilon_ = parameter(state, prefix + "epsilon", at::full({1}, kFirstEpsilon));
    for (int i = 0; i < 2; ++i) {
      const std::int64_t from = i == 0 ? inputs : middle, to = i == 0 ? middle : hidden;
      const std::string name = prefix + "mlp." + std::to_string(i) + ".";
      weight_[i] = drawn(state, name + "weight", {to, from}, 1 / std::sqrt(double(from)));
      bias_[i] = parameter(state, name + "bias", at::zeros({to}));
    }
  }
  at::Tensor messages(const TensorBatch& batch, const at::Tensor& states) const override {
    const at::Tensor sum = aggregate_sum(batch.adjacency, states) + (1 + epsilon_) * states;
    return at::relu(
        at::linear(at::relu(at::linear(sum, weight_[0], bias_[0])), weight_[1], bias_[1]));
  }

 private:
  at::Tensor epsilon_, weight_[2], bias_[2];
};

// Towers of principal neighbourhood aggregation, arXiv:2004.05718. A message P h_i + Q h_j + c is
// linear, so that only Q h_j has to be reduced over neighbours and no tensor of pairs is made.
class Pna final : public MessageLayer {
 public:
  Pna(const LayerOptions& options, std::int64_t inputs, at::Tensor mean_log_degree,
      StateDict& state, const std::string& prefix)
      : options_(options),
        divided_(inputs == options.hidden),
        in_(divided_ ? inputs / kTowers : inputs),
        out_(options.hidden / kTowers),
        mean_log_degree_(std::move(mean_log_degree)) {
    const auto parts =
        static_cast<std::int64_t>(options.aggregators.size() * options.scalers.size());
    const double before = 1 / std::sqrt(double(2 * in_)),
                 after = 1 / std::sqrt(double(in_ * (1 + parts)));
    own_ = drawn(state, prefix + "own", {kTowers, in_, in_}, before);
    other_ = drawn(state, prefix + "other", {kTowers, in_, in_}, before);
    bias_ = drawn(state, prefix + "bias", {kTowers, 1, in_}, before);
    post_ = drawn(state, prefix + "post", {kTowers, in_ * (1 + parts), out_}, after);
    post_bias_ = drawn(state, prefix + "post_bias", {kTowers, 1, out_}, after);
    const double bound = 1 / std::sqrt(double(options.hidden));
    mix_ = drawn(state, prefix + "mix", {options.hidden, options.hidden}, bound);
    mix_bias_ = drawn(state, prefix + "mix_bias", {options.hidden}, bound);
  }

  at::Tensor messages(const TensorBatch& batch, const at::Tensor& states) const override {
    const std::int64_t rows = states.size(0);
    // [towers, rows, in]: each tower has its own part of the states, or all of the features.
    const at::Tensor h = divided_ ? states.view({rows, kTowers, in_}).transpose(0, 1)
                                  : states.unsqueeze(0).expand({kTowers, rows, in_});
    const at::Tensor own = at::bmm(h, own_) + bias_;
    const at::Tensor sent = side_by_side(at::bmm(h, other_));
    const at::Tensor degree = batch.adjacency.in_degree().unsqueeze(1);
    std::vector<at::Tensor> parts = {h};
    for (const Scaler scaler : options_.scalers) {
      const at::Tensor scale = scale_of(scaler, degree);
      for (const Aggregator kind : options_.aggregators)
        parts.push_back(towers(reduce(kind, batch.adjacency, sent), own, kind, degree) * scale);
    }
    const at::Tensor out = at::bmm(at::cat(parts, 2), post_) + post_bias_;
    return at::leaky_relu(at::linear(side_by_side(out), mix_, mix_bias_), kernels::kLeak);
  }

 private:
  static at::Tensor side_by_side(const at::Tensor& by_tower) {
    return by_tower.transpose(0, 1).reshape({by_tower.size(1), -1});
  }

  // Of what neighbours send, [rows, towers * in].
  static at::Tensor reduce(Aggregator kind, const torch_kit::Adjacency& edges,
                           const at::Tensor& x) {
    using torch_kit::Pool;
    const at::Tensor& offsets = edges.by_target().offsets;
    switch (kind) {
      case Aggregator::sum:
        return aggregate_sum(edges, x);
      case Aggregator::mean:
        return aggregate_mean(edges, x);
      case Aggregator::max:
        return segment_pool(gather_sources(edges, x), offsets, Pool::kMax);
      case Aggregator::min:
        return -segment_pool(-gather_sources(edges, x), offsets, Pool::kMax);
      case Aggregator::std:
      case Aggregator::var:
        break;
    }
    const at::Tensor apart =
        gather_sources(edges, x) - gather_targets(edges, aggregate_mean(edges, x));
    const at::Tensor variance = segment_pool(apart * apart, offsets, Pool::kMean);
    return kind == Aggregator::var ? variance : at::sqrt(variance + kDeviationFloor);
  }

  // [towers, rows, in] with the part of the messages that does not depend on the neighbour.
  at::Tensor towers(const at::Tensor& reduced, const at::Tensor& own, Aggregator kind,
                    const at::Tensor& degree) const {
    const at::Tensor by_tower = reduced.view({reduced.size(0), kTowers, in_}).transpose(0, 1);
    switch (kind) {
      case Aggregator::sum:
        return by_tower + own * degree;
      case Aggregator::mean:
      case Aggregator::max:
      case Aggregator::min:
        return by_tower + own * degree.clamp_max(1);  // a node without neighbours receives nothing
      case Aggregator::std:
      case Aggregator::var:
        break;
    }
    return by_tower;
  }

  at::Tensor scale_of(Scaler scaler, const at::Tensor& degree) const {
    switch (scaler) {
      case Scaler::identity:
        break;
      case Scaler::amplification:
        return at::log1p(degree) / mean_log_degree_;
      case Scaler::attenuation:
        return mean_log_degree_ / at::log1p(degree.clamp_min(1));
    }
    return at::full({1}, 1.0F);
  }

  LayerOptions options_;
  bool divided_;
  std::int64_t in_, out_;
  at::Tensor mean_log_degree_;
  at::Tensor own_, other_, bias_, post_, post_bias_, mix_, mix_bias_;
};

at::Tensor as_tensor(const std::vector<std::int64_t>& values) {
  return at::from_blob(const_cast<std::int64_t*>(values.data()),
                       {static_cast<std::int64_t>(values.size())},
                       at::TensorOptions().dtype(at::kLong))
      .clone();
}

}  // namespace

const char* word(LayerKind kind) {
  return kKindWords[static_cast<std::size_t>(kind)].data();
}

const char* word(Aggregator kind) {
  return kAggregatorWords[static_cast<std::size_t>(kind)].data();
}

const char* word(Scaler kind) {
  return kScalerWords[static_cast<std::size_t>(kind)].data();
}

LayerKind layer_kind_named(const std::string& text) {
  return named<LayerKind>(kKindWords, text, "layer").front();
}

std::vector<Aggregator> aggregators_named(const std::string& words) {
  return named<Aggregator>(kAggregatorWords, words, "aggregator");
}

std::vector<Scaler> scalers_named(const std::string& words) {
  return named<Scaler>(kScalerWords, words, "scaler");
}

TensorBatch::TensorBatch(GroupBatch batch)
    : graphs(std::make_shared<const GroupBatch>(std::move(batch))),
      adjacency(torch_kit::Adjacency::from_edges(
          as_tensor(graphs->source), as_tensor(graphs->target), graphs->rows(), graphs->rows())),
      features(at::from_blob(const_cast<float*>(graphs->features.data()),
                             {graphs->rows(), static_cast<std::int64_t>(kGroupFeatures)},
                             at::TensorOptions().dtype(at::kFloat))
                   .clone()) {}

std::unique_ptr<Layer> make_layer(const LayerOptions& options, std::int64_t inputs,
                                  const at::Tensor& mean_log_degree, StateDict& state,
                                  const std::string& prefix) {
  switch (options.kind) {
    case LayerKind::gcn:
      return std::make_unique<Gcn>(inputs, options.hidden, state, prefix);
    case LayerKind::gat:
      return std::make_unique<Gat>(inputs, options.hidden, state, prefix);
    case LayerKind::gin:
      return std::make_unique<Gin>(inputs, options.hidden, state, prefix);
    case LayerKind::pna:
      return std::make_unique<Pna>(options, inputs, mean_log_degree, state, prefix);
  }
  throw Error(OMEN_INTERNAL, "this kind of layer is not made");
}

}  // namespace omen::driple
