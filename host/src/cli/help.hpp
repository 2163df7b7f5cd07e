// SPDX-License-Identifier: Apache-2.0
// Help, laid out from the description of a verb so that it reads the same as the rest of omen.
#pragma once

#include <string>

#include "cli/command_line.hpp"
#include "cli/verbs.hpp"

namespace omen::host::cli {

std::string verb_help(const CommandLine& line, const Verb& verb);
// Of `omen PLUGIN VERB`.
std::string command_help(const CommandLine& line, const std::string& plugin,
                         const std::string& verb);
// Flags that stand under one heading, one a line.
std::string flag_lines(const CommandLine& line, Flag::Section section);
// Bare `omen`, and with `full` `omen --help` up to its flags.
std::string welcome_text(const Globals& globals, bool full);

}  // namespace omen::host::cli
