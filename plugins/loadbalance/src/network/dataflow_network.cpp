// SPDX-License-Identifier: Apache-2.0
// The network that answers data-flow questions node by node.
#include "network/dataflow_network.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>

namespace omen::loadbalance {

namespace {

constexpr double kEmbeddingScale = 0.3;  // below the mark of the root

at::Tensor numbers(std::int64_t rows) {
  return at::empty({rows}, at::TensorOptions().dtype(at::kLong));
}

}  // namespace

DataflowBatch dataflow_batch(const std::vector<const DataflowItem*>& items,
                             std::int64_t relations) {
  DataflowBatch batch;
  std::int64_t rows = 0;
  bool labelled = true;
  for (const DataflowItem* item : items) {
    batch.active_begin.push_back(batch.active);
    batch.active += item->graph->active;
    rows += static_cast<std::int64_t>(item->graph->nodes.size());
    labelled &= !item->label.empty();
  }
  nn::TypedEdges edges;
  batch.tokens = numbers(rows);
  batch.root = at::empty({rows}, at::TensorOptions().dtype(at::kFloat));
  if (labelled) {
    batch.label = numbers(rows);
    batch.known = numbers(rows);
    batch.waves = numbers(rows * kWaves).view({rows, kWaves});
  }
  auto* tokens = batch.tokens.mutable_data_ptr<std::int64_t>();
  auto* root = batch.root.mutable_data_ptr<float>();
  auto* label = labelled ? batch.label.mutable_data_ptr<std::int64_t>() : nullptr;
  auto* known = labelled ? batch.known.mutable_data_ptr<std::int64_t>() : nullptr;
  auto* waves = labelled ? batch.waves.mutable_data_ptr<std::int64_t>() : nullptr;
  std::int64_t idle = batch.active;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const DataflowGraph& graph = *items[i]->graph;
    const std::int64_t begin = batch.active_begin[i];
    batch.idle_begin.push_back(idle);
    for (std::size_t row = 0; row < graph.nodes.size(); ++row) {
      const auto at = static_cast<std::int64_t>(row);
      const std::int64_t to = at < graph.active ? begin + at : idle++;
      tokens[to] = graph.tokens[row];
      root[to] = at == items[i]->root_row ? 1.0F : 0.0F;
      if (!labelled) continue;
      label[to] = items[i]->label[row];
      known[to] = items[i]->known[row];
      std::copy_n(items[i]->waves.begin() + at * kWaves, kWaves, waves + to * kWaves);
    }
    const auto shift = static_cast<std::int32_t>(begin);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      edges.push(graph.edges.source[e] + shift, graph.edges.target[e] + shift,
                 graph.edges.relation[e], graph.edges.position[e]);
  }
  batch.plan =
      std::make_shared<const nn::MessagePlan>(nn::plan_messages(edges, batch.active, relations));
  return batch;
}

DataflowNetwork::DataflowNetwork(const DataflowShape& shape) : shape_(shape) {
  const std::int64_t d = shape.width;
  embedding_ = (at::randn({shape.words, d - 2}) * kEmbeddingScale).detach();
  state_.add_parameter("embedding", embedding_);
  nn::PropagationOptions options;
  options.width = d;
  options.text_width = d - 2;
  options.relations = shape.relations;
  options.gates = shape.gates;
  layer_.emplace(options, state_, "layer.");
  gate_weight_ = nn::uniform_parameter({2, 2 * d}, 1 / std::sqrt(2.0 * static_cast<double>(d)));
  gate_bias_ = nn::uniform_parameter({2}, 1 / std::sqrt(2.0 * static_cast<double>(d)));
  value_weight_ = nn::uniform_parameter({2, d}, 1 / std::sqrt(static_cast<double>(d)));
  value_bias_ = nn::uniform_parameter({2}, 1 / std::sqrt(static_cast<double>(d)));
  state_.add_parameter("readout.gate.weight", gate_weight_);
  state_.add_parameter("readout.gate.bias", gate_bias_);
  state_.add_parameter("readout.value.weight", value_weight_);
  state_.add_parameter("readout.value.bias", value_bias_);
  wave_weight_ = nn::uniform_parameter({kWaves, d}, 1 / std::sqrt(static_cast<double>(d)));
  wave_bias_ = nn::uniform_parameter({kWaves}, 1 / std::sqrt(static_cast<double>(d)));
  state_.add_parameter("waves.weight", wave_weight_);
  state_.add_parameter("waves.bias", wave_bias_);
}

std::vector<DataflowNetwork::Answer> DataflowNetwork::answers(
    const DataflowBatch& batch, const std::vector<std::int64_t>& after) const {
  const at::Tensor mark = at::stack({1 - batch.root, batch.root}, 1) * shape_.selector;
  const at::Tensor first = at::cat({embedding_.index_select(0, batch.tokens), mark}, 1);
  const at::Tensor idle = first.narrow(0, batch.active, first.size(0) - batch.active);
  const at::Tensor gates = layer_->gates(*batch.plan, true);
  at::Tensor states = first.narrow(0, 0, batch.active).contiguous();
  std::vector<Answer> all;
  std::int64_t step = 0;
  for (const std::int64_t wanted : after) {
    for (; step < wanted && batch.active > 0; ++step)
      states = layer_->step(batch.plan, states, gates, true);
    const at::Tensor last = at::cat({states, idle}, 0);
    const at::Tensor gate =
        at::sigmoid(at::linear(at::cat({first, last}, 1), gate_weight_, gate_bias_));
    all.push_back({gate * at::linear(last, value_weight_, value_bias_),
                   at::linear(last, wave_weight_, wave_bias_)});
  }
  return all;
}

}  // namespace omen::loadbalance
