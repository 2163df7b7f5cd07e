// SPDX-License-Identifier: Apache-2.0
// Networks for phones by the names that result tables use, such as mobilenet-v2-0.75-192-quantized.
#pragma once

#include <optional>
#include <string_view>

#include "nets/net.hpp"

namespace omen::power {

// Nothing where the name is none of mobilenet v1 and v2 with a width and a resolution.
std::optional<Net> mobile_net(std::string_view name);

}  // namespace omen::power
