// SPDX-License-Identifier: Apache-2.0
// `omen doctor --devices`: what the devices of this machine can do, measured.
#pragma once

#include <string>
#include <vector>

#include "cli/globals.hpp"
#include "text/render.hpp"

namespace omen::host::cli {

// What telemetry.probe says, as one JSON object {"devices": [...], "absent": [...]}. It is asked in
// a worker, because a driver that crashes must not take the doctor with it.
std::string probe_devices(const Globals& globals);

// Rows "cpu 0", figure, value; published figures stand beside the measured.
std::vector<std::vector<Cell>> probe_rows(const std::string& probe_json);

}  // namespace omen::host::cli
