// SPDX-License-Identifier: Apache-2.0
// How an answer is judged.
#pragma once

#include "text/words.hpp"

namespace omen::host {

// Of numbers (the third in % of the truth), of classes, and of decisions; a draft may leave it
// open.
enum class Loss { kOpen, kAbsolute, kSquared, kAbsolutePercent, kZeroOne, kLogLoss, kRegret };
template <>
struct WordTable<Loss> {
  static constexpr const char* kWords[] = {"",         "absolute", "squared", "absolute-percent",
                                           "zero-one", "log-loss", "regret"};
};

}  // namespace omen::host
