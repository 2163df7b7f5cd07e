// SPDX-License-Identifier: Apache-2.0
// What `omen data check` and `omen task check` say of one thing.
#pragma once

#include "omen/error.hpp"
#include "text/words.hpp"

namespace omen::host::cli {

enum class CheckOutcome { kOk, kBad, kMissing };

// What is not there is no fault, unless it was asked for by name.
inline CheckOutcome outcome_of_check(const Error& error) {
  return error.code() == OMEN_NOT_FOUND ? CheckOutcome::kMissing : CheckOutcome::kBad;
}
inline bool counts_as_failed(CheckOutcome outcome, bool by_name) {
  return outcome == CheckOutcome::kBad || (outcome == CheckOutcome::kMissing && by_name);
}

}  // namespace omen::host::cli

namespace omen::host {

template <>
struct WordTable<cli::CheckOutcome> {
  static constexpr const char* kWords[] = {"ok", "bad", "missing"};
};

}  // namespace omen::host
