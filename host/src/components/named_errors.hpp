// SPDX-License-Identifier: Apache-2.0
// Errors of plugin code with the id of the component that they come from.
#pragma once

#include <string>
#include <utility>

#include "omen/error.hpp"

namespace omen::host {

// What names its component, its plugin or nobody's fault already stays as it is.
inline Error named_error(const std::string& component, const Error& error) {
  constexpr std::string_view kMisbehaving = "plugin misbehaving: ";
  const std::string text = error.what();
  if (error.code() == OMEN_CANCELLED || text.find(component) != text.npos ||
      text.starts_with("plugin '"))
    return error;
  const std::size_t at = text.starts_with(kMisbehaving) ? kMisbehaving.size() : 0;
  return Error(error.code(), text.substr(0, at) + component + ": " + text.substr(at), error.hint(),
               error.details_json());
}

// Calls plugin code; what it throws carries the component's id.
template <class Call>
decltype(auto) said_by(const std::string& component, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Error& e) {
    throw named_error(component, e);
  }
}

}  // namespace omen::host
