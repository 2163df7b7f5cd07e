// SPDX-License-Identifier: Apache-2.0
// The figures that power_figures prints; each returns what the check exits with.
#pragma once

#include <string>

namespace omen::power::checks {

int show_chip();
int show_voltage();
int show_speed();
int show_storage(const std::string& directory);
int show_recover();
// By the command line OMEN, with files in `directory`.
int show_recover_gradient(const std::string& omen, const std::string& directory);

}  // namespace omen::power::checks
