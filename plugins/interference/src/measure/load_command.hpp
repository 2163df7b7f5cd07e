// SPDX-License-Identifier: Apache-2.0
// How to start one of our loads as a command.
#pragma once

#include <string>

#include "measure/corun.hpp"

namespace omen::interference {

// This program again, silent, and gone with whoever started it, even where it was stopped. It
// outlasts every window; it is ended from outside. OMEN_UNAVAILABLE without /proc.
CommandLine load_command(const std::string& load);

}  // namespace omen::interference
