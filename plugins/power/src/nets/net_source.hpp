// SPDX-License-Identifier: Apache-2.0
// Networks from whatever names them: a description, a layer table, or a name.
#pragma once

#include <string>
#include <vector>

#include "nets/net.hpp"

namespace omen::power {

std::vector<Net> read_nets(const std::string& path_or_name);

}  // namespace omen::power
