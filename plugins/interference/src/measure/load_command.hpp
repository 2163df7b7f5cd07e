// SPDX-License-Identifier: Apache-2.0
// How to start one of our loads as a command.
#pragma once

#include <string>

#include "measure/corun.hpp"

namespace omen::interference {

// This program again, silent, and gone with whoever started it, even where it was stopped. It
// usually outlasts every window and is ended from outside. OMEN_UNAVAILABLE without /proc.
// `devices`: where it runs, such as cuda:0; `seconds`: after which it ends by itself.
CommandLine load_command(const std::string& load, const std::string& devices = "cpu",
                         double seconds = 100000);

}  // namespace omen::interference
