// SPDX-License-Identifier: Apache-2.0
// Where a verb prints: results on stdout, everything else on stderr, and the exit code of a
// failure.
#pragma once

#include <string>
#include <string_view>

#include "cli/globals.hpp"
#include "omen/error.hpp"
#include "text/render.hpp"

namespace omen::host::cli {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kUnloadable = 3,
  kBadData = 4,
  kCrashed = 5,
  kInterrupted = 130
};

// An error whose exit code does not follow from its status.
class ExitError : public Error {
 public:
  ExitError(int exit_code, const Error& error) : Error(error), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

int exit_code_of(const Error& error);

[[noreturn]] void usage_error(const std::string& message, const std::string& hint = {});

// Writes to stdout; a failure to write ends the verb with an error.
void print(std::string_view text);
// A remark on stderr, unless -q.
void note(const Globals& globals, const std::string& text);
// Colours and widths of stdout; --plain has neither.
Terminal out_terminal(const Globals& globals);
void print_table(const Globals& globals, const TextTable& table);
// Makes sure that everything printed has arrived.
void flush_stdout();
// From here on stdout is for print() alone: what a plugin writes to descriptor 1 goes to stderr.
void take_stdout();
// For a job that owns stdout.
void give_stdout_back();

}  // namespace omen::host::cli
