// SPDX-License-Identifier: Apache-2.0
// Runs one shell command with captured output and a time limit.
#pragma once

#include <filesystem>
#include <string>

#include "case_file.hpp"

namespace omen::cases {

struct Outcome {
  int exit_code = 0;  // 128 + signal where the command was killed
  bool timed_out = false;
  std::string stdout_text;
  std::string stderr_text;
};

// Runs `sh -c command` in `directory` with exactly the given environment.
Outcome run_shell(const std::string& command, const std::string& stdin_text,
                  const Variables& environment, const std::filesystem::path& directory,
                  int timeout_seconds);

}  // namespace omen::cases
