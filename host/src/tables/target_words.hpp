// SPDX-License-Identifier: Apache-2.0
// What a target is: which way is better, and whether it is a number or a class.
#pragma once

#include "stats/loss.hpp"
#include "text/words.hpp"

namespace omen::host {

enum class Direction { kLower, kHigher };
template <>
struct WordTable<Direction> {
  static constexpr const char* kWords[] = {"lower", "higher"};
};

// A draft of a task may leave it open; decisions are results only.
enum class TargetKind { kOpen, kNumber, kClass, kDecision };
template <>
struct WordTable<TargetKind> {
  static constexpr const char* kWords[] = {"", "number", "class", "decision"};
};

}  // namespace omen::host
