// SPDX-License-Identifier: Apache-2.0
// The 24 numbers that learned predictors see of a layer.
#pragma once

#include <array>
#include <cstdint>

#include "nets/net.hpp"

namespace omen::power {

inline constexpr std::size_t kBlockFeatures = 24;
// Eight coarse types as one-hot, logarithms of sizes and amounts, the part of zeros, the precision.
std::array<float, kBlockFeatures> block_features(const Primitive& layer, const Bits& bits);
extern const std::array<const char*, kBlockFeatures> kBlockFeatureNames;

}  // namespace omen::power
