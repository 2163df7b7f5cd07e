// SPDX-License-Identifier: Apache-2.0
// Completes the commands in hints and remarks.
#include "cli/suggestions.hpp"

#include <unistd.h>

#include <cstdio>

#include "cli/verbs.hpp"
#include "text/render.hpp"

namespace omen::host::cli {
namespace {

std::string path_flags(const std::vector<std::filesystem::path>& plugin_path) {
  std::string flags;
  for (const std::filesystem::path& path : plugin_path) {
    const bool is_plain = path.string().find_first_of(" \t'\"$&;()*?") == std::string::npos;
    flags += " --plugin-path " + (is_plain ? path.string() : "'" + path.string() + "'");
  }
  return flags;
}

// Where the verb of an "omen VERB" at `at` ends; npos where the word behind it is no verb.
std::size_t end_of_verb(const std::string& text, std::size_t at) {
  constexpr std::size_t kProgram = 5;  // "omen "
  const bool starts_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
  const std::size_t end =
      std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + kProgram), text.size());
  return starts_word && find_verb(text.substr(at + kProgram, end - at - kProgram))
             ? end
             : std::string::npos;
}

}  // namespace

std::string suggested(const std::vector<std::filesystem::path>& plugin_path,
                      const std::string& text) {
  if (plugin_path.empty()) return text;
  const std::string flags = path_flags(plugin_path);
  std::string result = text;
  for (std::size_t at = 0; (at = result.find("omen ", at)) != std::string::npos; ++at) {
    const std::size_t end = end_of_verb(result, at);
    if (end != std::string::npos && result.compare(end, flags.size(), flags) != 0)
      result.insert(end, flags);
  }
  return result;
}

void print_error(const std::vector<std::filesystem::path>& plugin_path, const Error& error) {
  const Error shown(error.code(), error.what(), suggested(plugin_path, error.hint()));
  std::fputs(error_text(shown, terminal_of(STDERR_FILENO).colour).c_str(), stderr);
}

}  // namespace omen::host::cli
