// SPDX-License-Identifier: Apache-2.0
// How a call ended, from its error, and what the program returns for it.
#include "worker/exchange.hpp"
#include "worker/worker.hpp"

namespace omen::host {
namespace {

using exchange::Json;

constexpr const char* kUnloadable = "UNLOADABLE";

// What the details of an error say under `key`; empty where they do not.
std::string noted(const Error& error, const char* key) {
  const Json details = Json::parse(error.details_json(), nullptr, false);
  if (!details.is_object()) return {};
  const auto at = details.find(key);
  return at != details.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

Error unloadable(const Error& error) {
  return Error(error.code(), error.what(), error.hint(),
               exchange::dump(Json{{"outcome", kUnloadable}}));
}

Outcome outcome_of(const Error& error) noexcept {
  const auto said = from_word<Outcome>(noted(error, "outcome"));
  for (const Outcome outcome :
       {Outcome::kCrashed, Outcome::kTimeout, Outcome::kOom, Outcome::kFailed})
    if (said == outcome) return outcome;
  switch (error.code()) {
    case OMEN_OK:
      return Outcome::kOk;
    case OMEN_TIMEOUT:
      return Outcome::kTimeout;
    case OMEN_OUT_OF_MEMORY:
      return Outcome::kOom;
    case OMEN_INVALID_ARGUMENT:
    case OMEN_INVALID_DATA:
    case OMEN_NOT_FOUND:
    case OMEN_UNSUPPORTED:
    case OMEN_UNAVAILABLE:
      return Outcome::kRefused;
    default:
      return Outcome::kFailed;
  }
}

bool killed_from_outside(const Error& error) noexcept {
  return outcome_of(error) == Outcome::kCrashed && noted(error, "signal") == "SIGKILL";
}

int exit_code_of(const Error& error) noexcept {
  if (error.code() == OMEN_CANCELLED) return 130;
  if (noted(error, "outcome") == kUnloadable) return 3;
  switch (outcome_of(error)) {
    case Outcome::kCrashed:
    case Outcome::kTimeout:
    case Outcome::kOom:
      return 5;
    default:
      return error.code() == OMEN_INVALID_DATA ? 4 : 1;
  }
}

}  // namespace omen::host
