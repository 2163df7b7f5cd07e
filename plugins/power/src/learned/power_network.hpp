// SPDX-License-Identifier: Apache-2.0
// Networks from block features and a hardware vector to logarithms of power and time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "learned/learned_rows.hpp"
#include "learned/pairing.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::power {

enum class NetworkKind : std::uint8_t { additive, flat };

struct NetworkShape {
  NetworkKind kind = NetworkKind::additive;
  std::int64_t encoder = 128;  // width of the block and hardware encoders
  std::int64_t width = 96;     // of what a block and an accelerator meet in
  std::int64_t depth = 1;      // hidden layers behind the first one of where they meet
};

// Values that continuous inputs are cut at: between two of them an input acts linearly.
struct Knots {
  std::vector<std::vector<float>> block, hardware;  // by column; fewer than two: a plain number
};
Knots choose_knots(const LearnedRows& rows, const std::vector<std::size_t>& of_rows);

class PowerNetwork {
 public:
  PowerNetwork(const NetworkShape& shape, Knots knots, std::uint64_t seed);

  // Sets the answers of the untrained network to the mean of these logarithms.
  void centre(const std::vector<double>& mean_costs, double mean_layers);
  // [rows, kCosts] logarithms for one net on accelerators [rows, hardware_width()]; gradients flow
  // into the accelerators where they ask for one.
  at::Tensor forward(const BlockTensors& net, const at::Tensor& hardware) const;

  // Weights as a file keeps them, so that what is measured of a model holds for its file.
  void round_to_half();

  torch_kit::StateDict& state() { return state_; }
  const torch_kit::StateDict& state() const { return state_; }
  const NetworkShape& shape() const { return shape_; }
  const Knots& knots() const { return knots_; }

 private:
  at::Tensor linear(const std::string& name, const at::Tensor& x) const;
  void add_linear(const std::string& name, std::int64_t in, std::int64_t out, double gain = 1);
  at::Tensor additive(const BlockTensors& net, const at::Tensor& blocks, const at::Tensor& hardware,
                      const at::Tensor& pairs) const;
  at::Tensor flat(const at::Tensor& blocks, const at::Tensor& hardware,
                  const at::Tensor& log_share) const;

  NetworkShape shape_;
  Knots knots_;
  std::vector<at::Tensor> block_knots_, hardware_knots_;
  torch_kit::StateDict state_;
};

}  // namespace omen::power
