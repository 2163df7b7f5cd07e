// SPDX-License-Identifier: Apache-2.0
// An exponential and a sigmoid that compilers vectorise, for the bodies of loops.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "omen/learn/instruction_sets.hpp"

namespace omen::torch_kit::nn::kernels {

// 2^n * polynomial after Cody and Waite's reduction; relative error below 2e-7.
OMEN_KERNEL_BODY float exponential(float x) {
  x = std::min(std::max(x, -87.0f), 88.0f);
  const float n = std::floor(x * 1.44269504f + 0.5f);
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

OMEN_KERNEL_BODY float sigmoid(float x) {
  return 1.0f / (1.0f + exponential(-x));
}

// Twice a sigmoid, moved: as exact as the sigmoid itself.
OMEN_KERNEL_BODY float hyperbolic_tangent(float x) {
  return 2 * sigmoid(2 * x) - 1;
}

}  // namespace omen::torch_kit::nn::kernels
