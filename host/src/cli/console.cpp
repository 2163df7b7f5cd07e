// SPDX-License-Identifier: Apache-2.0
// Standard streams through stdio, which costs nothing at start-up.
#include "cli/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/suggestions.hpp"
#include "pipeline/pipeline.hpp"
#include "worker/worker.hpp"

namespace omen::host::cli {
namespace {

std::FILE*& out_file() {
  static std::FILE* file = stdout;
  return file;
}

}  // namespace

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
  if (std::fwrite(text.data(), 1, text.size(), out_file()) != text.size())
    throw Error(OMEN_INTERNAL, std::string("cannot write to stdout: ") + std::strerror(errno));
}

void take_stdout() {
  const int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  std::FILE* const file = own < 0 ? nullptr : fdopen(own, "w");
  if (!file) return;  // stdout is closed, and nothing can be mixed up
  out_file() = file;
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

void give_stdout_back() {
  if (out_file() != stdout) dup2(fileno(out_file()), STDOUT_FILENO);
}

void flush_stdout() {
  if (std::fflush(out_file()) != 0)
    throw Error(OMEN_INTERNAL, std::string("cannot write to stdout: ") + std::strerror(errno));
}

void note(const Globals& globals, const std::string& text) {
  if (!globals.quiet) std::fprintf(stderr, "%s\n", suggested(globals.plugin_path, text).c_str());
}

Terminal out_terminal(const Globals& globals) {
  return globals.plain ? Terminal{} : terminal_of(fileno(out_file()));
}

void print_table(const Globals& globals, const TextTable& table) {
  print(table.text(out_terminal(globals), !globals.plain));
}

}  // namespace omen::host::cli
