// SPDX-License-Identifier: Apache-2.0
// Loads of known kind: bound by arithmetic, by memory, by the cache, or mostly waiting.
#pragma once

#include "measure/load.hpp"

namespace omen::interference {

enum class LoopKind { kCompute, kMemory, kCache, kIdle };
const char* loop_name(LoopKind kind);
// One for each kind, in its order.
const std::vector<LoadKind>& loop_loads();

}  // namespace omen::interference
