// SPDX-License-Identifier: Apache-2.0
// Rounds of messages: four kinds of graph layers, each in front of the same recurrent unit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nets/group_batch.hpp"
#include "omen/torch/adjacency.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::driple {

enum class LayerKind : std::uint8_t { gcn, gat, gin, pna };
const char* word(LayerKind kind);
LayerKind layer_kind_named(const std::string& text);

enum class Aggregator : std::uint8_t { sum, mean, max, min, std, var };
enum class Scaler : std::uint8_t { identity, amplification, attenuation };

const char* word(Aggregator kind);
const char* word(Scaler kind);

// Lists as text, separated by commas; OMEN_INVALID_ARGUMENT names a word that is unknown.
std::vector<Aggregator> aggregators_named(const std::string& words);
std::vector<Scaler> scalers_named(const std::string& words);

struct LayerOptions {
  LayerKind kind = LayerKind::gcn;
  std::int64_t hidden = 64;
  std::vector<Aggregator> aggregators = {Aggregator::sum};  // these two of pna alone
  std::vector<Scaler> scalers = {Scaler::identity};
};

// A batch with its edges as tensors, for layers that are made of LibTorch's operators.
struct TensorBatch {
  std::shared_ptr<const GroupBatch> graphs;
  torch_kit::Adjacency adjacency;  // without loops
  at::Tensor features;             // [rows, features] as the network reads them

  explicit TensorBatch(GroupBatch batch);
};

// The gated recurrent unit behind every layer, in LibTorch's layout.
struct UnitWeights {
  at::Tensor ih, hh, ih_bias, hh_bias;
};

class Layer {
 public:
  virtual ~Layer() = default;
  // `steps` rounds: messages of this layer are the hidden state of the unit, and the states, filled
  // up with zeros to the hidden width, its input. States [rows, inputs] to [rows, hidden]; more
  // than one step needs inputs of the hidden width.
  virtual at::Tensor rounds(const TensorBatch& batch, const at::Tensor& states,
                            const UnitWeights& unit, std::int64_t steps) const = 0;
};

// Adds its tensors to `state` under `prefix`. `mean_log_degree` is what pna's scalers divide by, a
// buffer of one number.
std::unique_ptr<Layer> make_layer(const LayerOptions& options, std::int64_t inputs,
                                  const at::Tensor& mean_log_degree, torch_kit::StateDict& state,
                                  const std::string& prefix);

}  // namespace omen::driple
