// SPDX-License-Identifier: Apache-2.0
// What a block and an accelerator are to each other: how often extents of the one go into the
// other.
#pragma once

#include <ATen/core/Tensor.h>

#include "learned/learned_rows.hpp"

namespace omen::power {

// Numbers of a pair; all are logarithms of whole counts, 0 for blocks without products.
inline constexpr std::int64_t kPairNumbers = 15;
// What a block amounts to on any accelerator: operations, bytes and products.
inline constexpr std::int64_t kBlockAmounts = 3;

// A net as tensors.
struct BlockTensors {
  at::Tensor features;     // [layers, kBlockFeatures]
  at::Tensor log_share;    // [layers]
  at::Tensor extents;      // [layers, ...] binary logarithms
  at::Tensor amounts;      // [layers, kBlockAmounts] logarithms
  at::Tensor computes;     // [layers] 1 where there are products, 0 elsewhere
  std::int64_t first = 0;  // block that waits for its first weights and inputs
};
BlockTensors block_tensors(const LearnedNet& net);

// [rows, layers, kPairNumbers] for hardware vectors [rows, hardware_width()]. Counts are whole, but
// their gradient is that of the plain quotient, so that a search can follow it.
at::Tensor pair_numbers(const BlockTensors& blocks, const at::Tensor& hardware);

}  // namespace omen::power
