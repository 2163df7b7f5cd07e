// SPDX-License-Identifier: Apache-2.0
// Comparisons as the engine would hand them over, made from a seed: what reports are tested on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace omen::test {

enum class SampleKind { kNumber, kClass, kDecision };

struct SampleShape {
  std::uint64_t seed = 1;
  int workloads = 240, groups = 12, entrants = 2;
  std::vector<SampleKind> tasks = {SampleKind::kNumber};  // one task each
  int targets = 1;                                        // of each task
  bool references = true, refusals = true;
  bool crashed = false;  // the last entrant lost every fold of the first task
  bool leaking = false;  // the first task has near-duplicates
  bool hostile = false;  // names that try to become markup
};

host::Comparison sample_comparison(const SampleShape& shape);

// "two": two predictors on numbers; "class" and "decision": on those; "many": three over six tasks
// of all kinds; "hostile"; "large".
SampleShape sample_shape(const std::string& name);

}  // namespace omen::test
