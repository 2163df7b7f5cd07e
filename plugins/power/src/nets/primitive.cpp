// SPDX-License-Identifier: Apache-2.0
// Names of the block types, and what a layer of each type amounts to.
#include "nets/primitive.hpp"

#include <array>

namespace omen::power {
namespace {

constexpr std::array kTypeNames = {"conv",       "dwconv",    "linear",     "matmul",   "pool",
                                   "globalpool", "add",       "concat",     "upsample", "norm",
                                   "act",        "mbconv",    "bottleneck", "basic",    "shuffle",
                                   "fire",       "attention", "ffn"};
static_assert(kTypeNames.size() == static_cast<std::size_t>(BlockType::ffn) + 1);

double real(std::int64_t value) {
  return static_cast<double>(value);
}

}  // namespace

const char* type_name(BlockType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

std::optional<BlockType> parse_type(std::string_view name) {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i)
    if (name == kTypeNames[i]) return static_cast<BlockType>(i);
  return std::nullopt;
}

std::int64_t slid(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                  std::int64_t dilation) {
  const std::int64_t room = size + 2 * pad - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

Amounts amounts_of(const Primitive& layer) {
  Amounts made;
  made.inputs = layer.in().elements();
  made.outputs = layer.out().elements();
  made.m = real(layer.ho) * real(layer.wo);
  made.k = real(layer.kh) * real(layer.kw) * real(layer.cin) / real(layer.groups);
  made.n = real(layer.cout) / real(layer.groups);
  switch (layer.type) {
    case BlockType::conv:
    case BlockType::dwconv:
    case BlockType::linear:
      made.macs = made.m * made.k * made.n * real(layer.groups);
      made.weights = made.k * real(layer.cout) + (layer.bias ? real(layer.cout) : 0);
      break;
    case BlockType::matmul:
      made.macs = made.m * made.k * made.n * real(layer.groups);
      made.second = made.k * real(layer.cout);
      made.inputs += made.second;
      break;
    case BlockType::pool:
    case BlockType::globalpool:
      made.ops = made.outputs * real(layer.kh) * real(layer.kw);
      break;
    case BlockType::norm:
      made.weights = 2 * real(layer.cin);
      made.ops = layer.ops_per_element * made.outputs;
      break;
    default:
      made.ops = layer.ops_per_element * made.outputs;
  }
  return made;
}

}  // namespace omen::power
