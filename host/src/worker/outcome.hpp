// SPDX-License-Identifier: Apache-2.0
// How a call of a component ended.
#pragma once

#include "text/words.hpp"

namespace omen::host {

enum class Outcome { kOk, kRefused, kFailed, kCrashed, kTimeout, kOom };
template <>
struct WordTable<Outcome> {
  static constexpr const char* kWords[] = {"OK", "REFUSED", "FAILED", "CRASHED", "TIMEOUT", "OOM"};
};

}  // namespace omen::host
