// SPDX-License-Identifier: Apache-2.0
// What a call says when it fails, with its hint.
#pragma once

#include <string>

#include "omen/error.hpp"

namespace omen::test {

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(e.what()) + " | " + e.hint();
  }
  return "no error";
}

}  // namespace omen::test
