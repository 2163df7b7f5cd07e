// SPDX-License-Identifier: Apache-2.0
// The network that answers data-flow questions node by node: a marked root, one propagation layer
// applied many times, and a gated readout of every node.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "network/dataflow_graph.hpp"
#include "omen/torch/nn/propagation.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::loadbalance {

// Properties on the way to an answer that a network can be taught: most of any analysis.
inline constexpr std::int64_t kWaves = 2;
inline constexpr std::int32_t kNoWave = -2;  // nothing to teach

// One question: a graph and the row of its root in it.
struct DataflowItem {
  std::shared_ptr<const DataflowGraph> graph;
  std::int32_t root_row = 0;
  std::int32_t steps = 0;
  std::vector<std::uint8_t> label;  // by row; empty where it is asked for
  std::vector<std::int32_t> known;  // by row; steps after which each can be known
  std::vector<std::int32_t> waves;  // by row, kWaves numbers each; see Labels
};

// Some questions side by side: the rows on edges of all of them, then the other rows of all.
struct DataflowBatch {
  std::int64_t active = 0;
  at::Tensor tokens;  // [rows] int64
  at::Tensor root;    // [rows] float, 1 at roots
  at::Tensor label;   // [rows] int64; undefined where an item has none
  at::Tensor known;   // [rows] int64; as label
  at::Tensor waves;   // [rows, kWaves] int64; as label
  std::shared_ptr<const nn::MessagePlan> plan;
  std::vector<std::int64_t> active_begin, idle_begin;  // first rows of each item
};
DataflowBatch dataflow_batch(const std::vector<const DataflowItem*>& items, std::int64_t relations);

struct DataflowShape {
  std::int64_t words = 1;   // rows of the embedding
  std::int64_t width = 16;  // of a state, two numbers of which mark the root
  std::int64_t relations = 1;
  bool gates = false;    // messages are scaled by gates of their edge's position
  double selector = 10;  // size of the mark
};

class DataflowNetwork {
 public:
  explicit DataflowNetwork(const DataflowShape& shape);

  struct Answer {
    at::Tensor label;  // [rows, 2] logits
    at::Tensor waves;  // [rows, kWaves] logits of having been reached
  };
  // After each of the ascending numbers of steps.
  std::vector<Answer> answers(const DataflowBatch& batch,
                              const std::vector<std::int64_t>& after) const;

  const torch_kit::StateDict& state() const { return state_; }
  const DataflowShape& shape() const { return shape_; }

 private:
  DataflowShape shape_;
  torch_kit::StateDict state_;
  at::Tensor embedding_, gate_weight_, gate_bias_, value_weight_, value_bias_, wave_weight_,
      wave_bias_;
  std::optional<nn::Propagation> layer_;
};

}  // namespace omen::loadbalance
