// SPDX-License-Identifier: Apache-2.0
// Accelerators from files: configurations of SCALE-Sim and JSON objects of parameters.
#pragma once

#include <string>

#include "hardware/hardware.hpp"

namespace omen::power {

// `.cfg` keys that have no counterpart here (offsets, request buffers) are passed over; those that
// are absent keep the value of `otherwise`. Bandwidth is words of one byte in a cycle.
Hardware parse_scale_sim(const std::string& text, const std::string& source,
                         const Hardware& otherwise);
// {"rows": 12, "dataflow": "ws", ...}; unknown keys are refused.
Hardware parse_hardware_json(const std::string& text, const std::string& source,
                             const Hardware& otherwise);
// By the first character: JSON or a configuration.
Hardware parse_hardware(const std::string& text, const std::string& source,
                        const Hardware& otherwise);

}  // namespace omen::power
