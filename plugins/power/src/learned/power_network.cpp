// SPDX-License-Identifier: Apache-2.0
// Positive contributions of blocks that add up, or one vector for the whole network.
#include "learned/power_network.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "nets/block_features.hpp"

namespace omen::power {
namespace {

constexpr std::size_t kMostKnots = 16;
// How sharply the slower of arithmetic and memory decides the time of a block.
constexpr double kSharpness = 24;
// What a block contributes: energy of the core, bytes, time of the array, a start for the first
// one.
constexpr std::int64_t kHeads = 4;

std::vector<float> knots_of(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kMostKnots) return values;
  std::vector<float> chosen;
  for (std::size_t i = 0; i < kMostKnots; ++i)
    chosen.push_back(values[i * (values.size() - 1) / (kMostKnots - 1)]);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<at::Tensor> knot_tensors(const std::vector<std::vector<float>>& knots) {
  std::vector<at::Tensor> made;
  for (const std::vector<float>& column : knots)
    made.push_back(column.size() < 2 ? at::Tensor()
                                     : at::tensor(column, at::TensorOptions().dtype(at::kFloat)));
  return made;
}

// How far a value has come from each knot to the next; beyond the ends the last step goes on.
at::Tensor between_knots(const at::Tensor& x, const std::vector<at::Tensor>& knots) {
  std::vector<at::Tensor> parts;
  for (std::size_t c = 0; c < knots.size(); ++c) {
    const at::Tensor column = x.select(1, static_cast<std::int64_t>(c)).unsqueeze(1);
    if (!knots[c].defined()) continue;
    const at::Tensor low = knots[c].slice(0, 0, -1), high = knots[c].slice(0, 1);
    parts.push_back(((column - low) / (high - low)).clamp(0, 1));
  }
  return parts.empty() ? x.slice(1, 0, 0) : at::cat(parts, 1);
}

std::int64_t encoded_width(const std::vector<std::vector<float>>& knots, std::int64_t plain) {
  std::int64_t width = plain;
  for (const std::vector<float>& column : knots)
    if (column.size() >= 2) width += static_cast<std::int64_t>(column.size()) - 1;
  return width;
}

std::string more_layer(const char* part, std::int64_t index) {
  return std::string(part) + ".more." + std::to_string(index);
}

at::Tensor soft_maximum(const at::Tensor& a, const at::Tensor& b) {
  return at::logaddexp(a * kSharpness, b * kSharpness) / kSharpness;
}

}  // namespace

Knots choose_knots(const LearnedRows& rows, const std::vector<std::size_t>& of_rows) {
  Knots made;
  std::set<std::int32_t> nets;
  for (const std::size_t row : of_rows) nets.insert(rows.rows[row].net);
  for (std::size_t c = 0; c < kBlockFeatures; ++c) {
    std::vector<float> values;
    for (const std::int32_t net : nets) {
      const LearnedNet& one = rows.nets[static_cast<std::size_t>(net)];
      for (std::size_t layer = 0; layer < one.layers(); ++layer)
        values.push_back(one.features[layer * kBlockFeatures + c]);
    }
    made.block.push_back(knots_of(std::move(values)));
  }
  for (std::size_t c = 0; c < hardware_width(); ++c) {
    std::vector<float> values;
    for (const std::size_t row : of_rows) values.push_back(rows.rows[row].hardware[c]);
    made.hardware.push_back(knots_of(std::move(values)));
  }
  return made;
}

PowerNetwork::PowerNetwork(const NetworkShape& shape, Knots knots, std::uint64_t seed)
    : shape_(shape),
      knots_(std::move(knots)),
      block_knots_(knot_tensors(knots_.block)),
      hardware_knots_(knot_tensors(knots_.hardware)) {
  at::manual_seed(seed);
  const std::int64_t width = shape.width, encoder = shape.encoder;
  add_linear("block.0", encoded_width(knots_.block, kBlockFeatures), encoder);
  add_linear("block.1", encoder, encoder);
  add_linear("hardware.0",
             encoded_width(knots_.hardware, static_cast<std::int64_t>(hardware_width())), encoder);
  add_linear("hardware.1", encoder, encoder);
  if (shape.kind == NetworkKind::flat) {
    add_linear("joint.0", 2 * encoder, 2 * width);
    add_linear("joint.1", 2 * width, width);
    for (std::int64_t i = 1; i < shape.depth; ++i) add_linear(more_layer("joint", i), width, width);
    add_linear("joint.2", width, kCosts, 0.1);
    return;
  }
  add_linear("meet.block", encoder, width);
  add_linear("meet.scale", encoder, width, 0.3);
  add_linear("meet.shift", encoder, width);
  add_linear("pair.0", width, width);
  for (std::int64_t i = 0; i < shape.depth; ++i)
    add_linear(i == 0 ? "pair.1" : more_layer("pair", i), width, width, 0.3);
  add_linear("heads", width, kHeads, 0.3);
  add_linear("heads.block", encoder, kHeads, 0.3);
  add_linear("heads.hardware", encoder, kHeads, 0.3);
  add_linear("meet.pair", kPairNumbers, width, 0.3);
  add_linear("counts", encoder, kPairNumbers * kHeads, 0.1);
  add_linear("memory", encoder, 4, 0.3);
}

void PowerNetwork::add_linear(const std::string& name, std::int64_t in, std::int64_t out,
                              double gain) {
  const double deviation = gain / std::sqrt(static_cast<double>(in));
  state_.add_parameter(name + ".weight", at::randn({out, in}, at::kFloat) * deviation);
  state_.add_parameter(name + ".bias", at::zeros({out}, at::kFloat));
}

at::Tensor PowerNetwork::linear(const std::string& name, const at::Tensor& x) const {
  return at::linear(x, state_.at(name + ".weight"), state_.at(name + ".bias"));
}

void PowerNetwork::centre(const std::vector<double>& mean_costs, double mean_layers) {
  const c10::NoGradGuard guard;
  const double core = mean_costs[0], memory = mean_costs[1], time = mean_costs[2];
  if (shape_.kind == NetworkKind::flat) {
    state_.at("joint.2.bias").copy_(at::tensor({core, memory, time}, at::kFloat));
    return;
  }
  // What an operation, a byte and a product cost where all blocks had the mean share of each.
  const double share = time - std::log(std::max(1.0, mean_layers));
  constexpr double kMeanAmount = 15;
  state_.at("heads.bias")
      .copy_(at::tensor({core + share - kMeanAmount, 0.0, share - kMeanAmount, share - 4},
                        at::kFloat));
  // Constant powers start at a tenth of the mean.
  state_.at("memory.bias")
      .copy_(at::tensor(
          {memory + share - kMeanAmount, share - kMeanAmount - 1, core - 2.3, memory - 2.3},
          at::kFloat));
}

void PowerNetwork::round_to_half() {
  const c10::NoGradGuard guard;
  for (const torch_kit::NamedTensor& entry : state_.entries())
    entry.tensor.copy_(entry.tensor.to(at::kHalf));
}

at::Tensor PowerNetwork::forward(const BlockTensors& net, const at::Tensor& hardware) const {
  at::Tensor blocks = at::cat({net.features * 0.1, between_knots(net.features, block_knots_)}, 1);
  blocks = at::silu(linear("block.1", at::silu(linear("block.0", blocks))));
  at::Tensor built = at::cat({hardware * 0.1, between_knots(hardware, hardware_knots_)}, 1);
  built = at::silu(linear("hardware.1", at::silu(linear("hardware.0", built))));
  return shape_.kind == NetworkKind::flat
             ? flat(blocks, built, net.log_share)
             : additive(net, blocks, built, pair_numbers(net, hardware));
}

at::Tensor PowerNetwork::additive(const BlockTensors& net, const at::Tensor& blocks,
                                  const at::Tensor& hardware, const at::Tensor& pairs) const {
  const at::Tensor own = linear("meet.block", blocks).unsqueeze(0);
  const at::Tensor scale = linear("meet.scale", hardware).unsqueeze(1) + 1;
  const at::Tensor shift = linear("meet.shift", hardware).unsqueeze(1);
  const at::Tensor met = at::silu(at::addcmul(shift, own, scale) + linear("meet.pair", pairs));
  at::Tensor deep = at::silu(linear("pair.0", met));
  for (std::int64_t i = 0; i < shape_.depth; ++i)
    deep = deep + at::silu(linear(i == 0 ? "pair.1" : more_layer("pair", i), deep));
  // Which counts matter is up to the accelerator, above all to its dataflow.
  const at::Tensor counted =
      at::bmm(pairs, linear("counts", hardware).view({-1, kPairNumbers, kHeads}));
  const at::Tensor heads =
      linear("heads", deep) + counted + linear("heads.block", blocks).unsqueeze(0) +
      linear("heads.hardware", hardware).unsqueeze(1) + net.log_share.view({1, -1, 1});
  const auto amount = [&](std::int64_t at) { return net.amounts.select(1, at).unsqueeze(0); };
  const at::Tensor core = heads.select(2, 0) + amount(0), bytes = heads.select(2, 1) + amount(1),
                   work = heads.select(2, 2) + amount(2);
  const at::Tensor of_memory =
      linear("memory", hardware);  // energy and time of a byte, idle powers
  const auto memory = [&](std::int64_t at) { return of_memory.select(1, at); };
  const at::Tensor running = at::logsumexp(soft_maximum(work, bytes + memory(1).unsqueeze(1)), 1);
  const at::Tensor time = at::logaddexp(running, heads.select(2, 3).select(1, net.first));
  return at::stack({at::logaddexp(at::logsumexp(core, 1) - time, memory(2)),
                    at::logaddexp(at::logsumexp(bytes, 1) + memory(0) - time, memory(3)), time},
                   1);
}

at::Tensor PowerNetwork::flat(const at::Tensor& blocks, const at::Tensor& hardware,
                              const at::Tensor& log_share) const {
  const at::Tensor weights = log_share.exp().unsqueeze(1);
  const at::Tensor pooled = at::log1p((blocks * weights).abs().sum(0, true));
  const at::Tensor joint = at::cat({pooled.expand({hardware.size(0), -1}), hardware}, 1);
  at::Tensor deep = at::silu(linear("joint.1", at::silu(linear("joint.0", joint))));
  for (std::int64_t i = 1; i < shape_.depth; ++i)
    deep = deep + at::silu(linear(more_layer("joint", i), deep));
  return linear("joint.2", deep);
}

}  // namespace omen::power
