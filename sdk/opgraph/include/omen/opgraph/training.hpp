// SPDX-License-Identifier: Apache-2.0
// A forward pass becomes a training step: gradients, their sum over ranks, and the update.
#ifndef OMEN_OPGRAPH_TRAINING_HPP
#define OMEN_OPGRAPH_TRAINING_HPP

#include <optional>
#include <string_view>

#include "omen/opgraph/forward_graph.hpp"

namespace omen::opgraph {

enum class Optimizer : std::uint8_t { none, sgd, momentum, adam };
std::span<const std::string_view> optimizer_words();
std::string_view word(Optimizer optimizer);
std::optional<Optimizer> optimizer_of(std::string_view text);

// Which of the states that ranks of data parallelism hold alike are divided among them.
enum class Sharding : std::uint8_t { none, optimizer, gradients, weights };
std::span<const std::string_view> sharding_words();
std::optional<Sharding> sharding_of(std::string_view text);

struct TrainingOptions {
  Optimizer optimizer = Optimizer::sgd;
  Precision precision = Precision::fp32;  // of weights and gradients; narrow ones keep fp32 copies
  bool update_by_variable = true;         // else one kernel changes all of them
  bool accumulate = false;                // gradients are added to those of earlier micro-batches
  bool weight_decay_as_loss = false;      // squares of the parameters are part of the loss
  std::int64_t data_ranks = 1;
  Sharding sharding = Sharding::none;
};

// Forward, backward and update. The gradient starts at the last operation.
OpGraph training_graph(ForwardGraph forward, const TrainingOptions& options);

// What the states of `parameters` numbers on one rank take.
struct StateBytes {
  double weights = 0, gradients = 0, optimizer = 0;
};
StateBytes state_bytes(double parameters, const TrainingOptions& options);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_TRAINING_HPP
