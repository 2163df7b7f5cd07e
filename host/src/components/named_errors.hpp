// SPDX-License-Identifier: Apache-2.0
// Errors of plugin code with the id of the component that they come from.
#pragma once

#include <string>
#include <utility>

#include "omen/error.hpp"

namespace omen::host {

// What to do about a component that breaks the contract.
inline std::string verify_hint(const std::string& component) {
  return "check it with: omen verify " + component.substr(0, component.find('.'));
}

// What to do where the component itself does not say.
inline std::string hint_of(const std::string& component, const Error& error) {
  if (!error.hint().empty() || error.code() == OMEN_CANCELLED) return error.hint();
  if (error.code() == OMEN_INTERNAL || error.code() == OMEN_INVALID_STATE)
    return "tell its author, or " + verify_hint(component);
  return "see what it reads and its options with: omen info " + component;
}

// What names its component, its plugin or nobody's fault already keeps its words.
inline Error named_error(const std::string& component, const Error& error) {
  constexpr std::string_view kMisbehaving = "plugin misbehaving: ";
  const std::string text = error.what(), hint = hint_of(component, error);
  if (error.code() == OMEN_CANCELLED || text.find(component) != text.npos ||
      text.starts_with("plugin '"))
    return Error(error.code(), text, hint, error.details_json());
  const std::size_t at = text.starts_with(kMisbehaving) ? kMisbehaving.size() : 0;
  return Error(error.code(), text.substr(0, at) + component + ": " + text.substr(at), hint,
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
