// SPDX-License-Identifier: Apache-2.0
// Layers to numbers.
#include "nets/block_features.hpp"

#include <cmath>

namespace omen::power {
namespace {

enum class Coarse : std::uint8_t {
  conv,
  depthwise,
  pointwise,
  linear,
  matmul,
  pool,
  elementwise,
  other
};

Coarse coarse_type(const Primitive& layer) {
  switch (layer.type) {
    case BlockType::conv:
      return layer.kh * layer.kw == 1 ? Coarse::pointwise : Coarse::conv;
    case BlockType::dwconv:
      return Coarse::depthwise;
    case BlockType::linear:
      return Coarse::linear;
    case BlockType::matmul:
      return Coarse::matmul;
    case BlockType::pool:
    case BlockType::globalpool:
      return Coarse::pool;
    case BlockType::add:
    case BlockType::norm:
    case BlockType::act:
      return Coarse::elementwise;
    default:
      return Coarse::other;
  }
}

}  // namespace

const std::array<const char*, kBlockFeatures> kBlockFeatureNames = {
    "conv",        "depthwise",   "pointwise",  "linear",      "matmul",        "pool",
    "elementwise", "other",       "log_cin",    "log_cout",    "log_window",    "log_stride",
    "log_groups",  "log_h",       "log_w",      "log_ho",      "log_wo",        "log_expand",
    "log_macs",    "log_weights", "log_inputs", "log_outputs", "act_zero_frac", "bits_w_16"};

std::array<float, kBlockFeatures> block_features(const Primitive& layer, const Bits& bits) {
  const Amounts amounts = amounts_of(layer);
  std::array<float, kBlockFeatures> made{};
  made[static_cast<std::size_t>(coarse_type(layer))] = 1;
  const double logged[] = {static_cast<double>(layer.cin),
                           static_cast<double>(layer.cout),
                           static_cast<double>(layer.kh * layer.kw),
                           static_cast<double>(layer.stride_h),
                           static_cast<double>(layer.groups),
                           static_cast<double>(layer.h),
                           static_cast<double>(layer.w),
                           static_cast<double>(layer.ho),
                           static_cast<double>(layer.wo),
                           layer.expand,
                           amounts.macs,
                           amounts.weights,
                           amounts.inputs,
                           amounts.outputs};
  std::size_t at = 8;
  for (const double value : logged) made[at++] = static_cast<float>(std::log1p(value));
  made[at++] = static_cast<float>(layer.act_zero_frac);
  made[at++] = static_cast<float>(bits.weight) / 16;
  return made;
}

}  // namespace omen::power
