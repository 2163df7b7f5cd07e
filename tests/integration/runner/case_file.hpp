// SPDX-License-Identifier: Apache-2.0
// The text format of a .case file: commands with the output and exit code they must give.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace omen::cases {

using Variables = std::map<std::string, std::string>;

// One expected line of stdout.
struct LinePattern {
  enum class Kind { kExact, kRegex, kAnyLines };
  Kind kind = Kind::kExact;
  std::string text;
};

// One command and what is expected of it.
struct Step {
  int line = 0;
  std::string command;
  int exit_code = 0;
  int timeout_seconds = 60;
  bool stdout_empty = false;
  bool stderr_empty = false;
  std::vector<LinePattern> stdout_lines;
  std::vector<std::string> stdout_without;
  std::vector<std::string> stderr_with;
  std::vector<std::string> stderr_without;
};

struct CaseFile {
  std::string name;
  std::string stdin_text;
  Variables environment;
  std::vector<std::string> required;  // tools in PATH, or paths
  std::vector<Step> steps;
};

// Replaces $NAME and ${NAME} by the given variables; unknown names stay as they are.
std::string expand(std::string_view text, const Variables& variables);

// Throws std::runtime_error with "file:line: reason" on a malformed file.
CaseFile parse_case(const std::filesystem::path& path, const Variables& variables);

}  // namespace omen::cases
