// SPDX-License-Identifier: Apache-2.0
// Matchers for errors: code, message and hint in one expectation. Needs GoogleMock.
#ifndef OMEN_TESTING_ERRORS_HPP
#define OMEN_TESTING_ERRORS_HPP

#include <gmock/gmock.h>

#include <optional>
#include <ostream>
#include <string>

#include "omen/error.hpp"

namespace omen {

// GoogleTest finds this by the type and shows words instead of bytes.
inline void PrintTo(const Error& error, std::ostream* out) {
  *out << status_name(error.code()) << ": " << error.what() << "\nhint: " << error.hint();
}

}  // namespace omen

namespace omen::test {

// What `body` threw, or nothing.
template <class Body>
std::optional<Error> error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// The same as a value; its code is OMEN_OK where nothing was thrown.
template <class Body>
Error thrown_by(Body&& body) {
  return error_of(body).value_or(Error(OMEN_OK, "nothing was thrown"));
}

// EXPECT_THAT(error_of([&] { load(...); }), IsError(OMEN_NOT_FOUND, HasSubstr("'x' not found"),
// HasSubstr("omen list")));
template <class Message, class Hint>
auto IsError(omen_status code, Message message, Hint hint) {
  using ::testing::ResultOf;
  return ::testing::Optional(::testing::AllOf(
      ResultOf(
          "code", [](const Error& e) { return e.code(); }, code),
      ResultOf(
          "message", [](const Error& e) { return std::string(e.what()); }, message),
      ResultOf(
          "hint", [](const Error& e) { return e.hint(); }, hint)));
}
template <class Message>
auto IsError(omen_status code, Message message) {
  return IsError(code, message, ::testing::_);
}

}  // namespace omen::test

#endif  // OMEN_TESTING_ERRORS_HPP
