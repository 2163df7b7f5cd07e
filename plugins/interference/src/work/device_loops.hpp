// SPDX-License-Identifier: Apache-2.0
// The loops of known kind as tensors, for a GPU.
#pragma once

#include <c10/core/Device.h>

#include "measure/loops.hpp"

namespace omen::interference {

// What a step touches; the usual sizes take a GPU about 10 ms.
struct DeviceLoopSizes {
  std::int64_t side = 2048;                // of the matrices that are multiplied
  std::int64_t memory_words = 64LL << 20;  // larger than any cache
  std::int64_t cache_words = 512LL << 10;  // within the last-level cache
  int rounds = 8;
};
std::unique_ptr<Load> make_device_loop(LoopKind kind, c10::Device device, std::uint64_t seed,
                                       const DeviceLoopSizes& sizes = {});

}  // namespace omen::interference
