// SPDX-License-Identifier: Apache-2.0
// Commands that omen proposes, such that they find the plugins that this one found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/globals.hpp"
#include "omen/error.hpp"

namespace omen::host::cli {

// Every "omen VERB" in `text` with the --plugin-path of this command line behind the verb.
std::string suggested(const std::vector<std::filesystem::path>& plugin_path,
                      const std::string& text);
// On stderr, with a hint that can be typed as it stands.
void print_error(const std::vector<std::filesystem::path>& plugin_path, const Error& error);

}  // namespace omen::host::cli
