// SPDX-License-Identifier: Apache-2.0
// Networks described in JSON (`pw-nets/1`).
#pragma once

#include <string>
#include <vector>

#include "nets/net.hpp"

namespace omen::power {

inline constexpr const char* kNetsFormat = "pw-nets/1";

std::vector<Net> parse_nets(const std::string& text, const std::string& source);

}  // namespace omen::power
