// SPDX-License-Identifier: Apache-2.0
// What `omen data check` and `omen task check` say of several things.
#pragma once

#include <string>
#include <utility>

#include "cli/globals.hpp"
#include "omen/error.hpp"
#include "text/json_writer.hpp"
#include "text/render.hpp"
#include "text/words.hpp"

namespace omen::host::cli {

enum class CheckOutcome { kOk, kBad, kMissing };

struct Checked {
  std::string subject;
  CheckOutcome outcome = CheckOutcome::kOk;
  std::string message = {};
};

// `facts(subject)` looks, may say the subject better, and returns what is worth knowing; an error
// that it throws is the outcome. What is not there is no fault by itself.
template <class Facts>
Checked check_of(std::string subject, Facts&& facts) {
  Checked checked{std::move(subject)};
  try {
    checked.message = facts(checked.subject);
  } catch (const Error& e) {
    checked.outcome = e.code() == OMEN_NOT_FOUND ? CheckOutcome::kMissing : CheckOutcome::kBad;
    checked.message = std::string(e.what()) + (e.hint().empty() ? "" : "; " + e.hint());
  }
  return checked;
}

class CheckReport {
 public:
  // `list` and `key` are words of the JSON document; what the user named must be there.
  CheckReport(const char* list, const char* key, Heading subject, bool by_name);
  void add(const Checked& checked);
  // Prints the report and returns the exit code.
  int print(const Globals& globals);

 private:
  const char* key_;
  bool by_name_, failed_ = false;
  TextTable table_;
  JsonWriter json_;
};

}  // namespace omen::host::cli

namespace omen::host {

template <>
struct WordTable<cli::CheckOutcome> {
  static constexpr const char* kWords[] = {"ok", "bad", "missing"};
};

}  // namespace omen::host
