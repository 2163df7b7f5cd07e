// SPDX-License-Identifier: Apache-2.0
// The ways in which the baselines refuse.
#pragma once

#include <omen/error.hpp>
#include <string>

namespace omen::baseline {

/// Data from outside does not fit: wrong column, empty table, damaged model.
[[noreturn]] inline void throw_bad_data(const std::string& message, const std::string& hint) {
  throw Error(OMEN_INVALID_DATA, message, hint);
}

/// A library failed for a reason that is not the caller's.
[[noreturn]] inline void throw_internal(const std::string& message) {
  throw Error(OMEN_INTERNAL, message);
}

}  // namespace omen::baseline
