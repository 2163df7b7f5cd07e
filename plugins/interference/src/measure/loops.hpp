// SPDX-License-Identifier: Apache-2.0
// Loads of known kind: bound by arithmetic, by memory, by the cache, or mostly waiting.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace omen::interference {

enum class LoopKind { kCompute, kMemory, kCache, kIdle };
const std::vector<LoopKind>& all_loop_kinds();
const char* loop_name(LoopKind kind);
// OMEN_INVALID_ARGUMENT where there is no such loop.
LoopKind parse_loop(const std::string& name);

// Repeats steps of about 10 ms until `seconds` have passed or `stop` says so; `mark` is called
// after each. Returns the number of steps.
std::int64_t run_loop(LoopKind kind, double seconds, const std::function<void()>& mark,
                      const std::function<bool()>& stop);

}  // namespace omen::interference
