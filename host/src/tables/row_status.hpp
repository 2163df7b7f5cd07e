// SPDX-License-Identifier: Apache-2.0
// What the status of a predicted row says.
#pragma once

#include "text/words.hpp"

namespace omen::host {

// Any other text is the reason why there is no answer.
enum class RowStatus { kOk, kExtrapolating };
template <>
struct WordTable<RowStatus> {
  static constexpr const char* kWords[] = {"ok", "extrapolating"};
};

// Why the host does not take a row for an answer although the predictor does.
enum class RowFault { kNotFinite, kCrossed };
template <>
struct WordTable<RowFault> {
  static constexpr const char* kWords[] = {"no finite answer", "lower end above upper end"};
};

inline bool is_answer(std::string_view status) {
  return from_word<RowStatus>(status).has_value();
}

}  // namespace omen::host
