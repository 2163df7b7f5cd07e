// SPDX-License-Identifier: Apache-2.0
// Layer tables of SCALE-Sim: convolutions, or products by their three sizes.
#pragma once

#include <string>
#include <string_view>

#include "nets/net.hpp"

namespace omen::power {

// Whether the first line names the columns of such a table.
bool is_topology(std::string_view head);
// Inputs are padded already in these tables; layers stand alone, so they need not fit.
Net parse_topology(const std::string& text, const std::string& source);

}  // namespace omen::power
