// SPDX-License-Identifier: Apache-2.0
// The ways in which learners refuse.
#pragma once

#include <omen/error.hpp>
#include <string>

namespace omen::learn {

/// Data from outside does not fit: wrong column, empty table, damaged model.
[[noreturn]] inline void throw_bad_data(const std::string& message, const std::string& hint) {
  throw Error(OMEN_INVALID_DATA, message, hint);
}

/// A library failed for a reason that is not the caller's.
[[noreturn]] inline void throw_internal(const std::string& message) {
  throw Error(OMEN_INTERNAL, message);
}

/// The predictor `id` was asked before it was trained or loaded.
[[noreturn]] inline void throw_no_model(const std::string& id) {
  throw Error(OMEN_INVALID_STATE, id + " has no model yet",
              "Train one with omen train, or load one with --model.");
}

/// What `model` points to; throw_no_model() where that is nothing.
template <class Pointer>
const auto& require_model(const Pointer& model, const std::string& id) {
  if (!model) throw_no_model(id);
  return *model;
}

/// A model answers only for the component that wrote it.
inline void require_component(const std::string& component, const std::string& id) {
  if (component == id) return;
  throw_bad_data("the model belongs to " + component + ", not to " + id,
                 "Use it with " + component + ".");
}

}  // namespace omen::learn
