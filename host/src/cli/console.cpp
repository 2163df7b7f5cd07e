// SPDX-License-Identifier: Apache-2.0
// Standard streams through stdio, which costs nothing at start-up.
#include "cli/console.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pipeline/pipeline.hpp"
#include "worker/worker.hpp"

namespace omen::host::cli {

int exit_code_of(const Error& error) {
  if (const auto* own = dynamic_cast<const ExitError*>(&error)) return own->exit_code();
  const int code = host::exit_code_of(error);
  if (code != kFailed) return code;
  if (error.code() == OMEN_INVALID_ARGUMENT || error.code() == OMEN_NOT_FOUND) return kUsage;
  return error.code() == OMEN_IO ? kBadData : kFailed;
}

void usage_error(const std::string& message, const std::string& hint) {
  throw ExitError(kUsage, Error(OMEN_INVALID_ARGUMENT, message, hint));
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Error(OMEN_INTERNAL, std::string("cannot write to stdout: ") + std::strerror(errno));
}

void flush_stdout() {
  if (std::fflush(stdout) != 0)
    throw Error(OMEN_INTERNAL, std::string("cannot write to stdout: ") + std::strerror(errno));
}

void note(const Globals& globals, const std::string& text) {
  if (!globals.quiet) std::fprintf(stderr, "%s\n", text.c_str());
}

Terminal out_terminal(const Globals& globals) {
  return globals.plain ? Terminal{} : terminal_of(STDOUT_FILENO);
}

void print_table(const Globals& globals, const TextTable& table) {
  print(table.text(out_terminal(globals), !globals.plain));
}

}  // namespace omen::host::cli
