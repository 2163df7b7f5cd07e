// SPDX-License-Identifier: Apache-2.0
// Random networks of five families.
#pragma once

#include <array>
#include <cstdint>
#include <omen/learn/random.hpp>

#include "nets/net.hpp"

namespace omen::power {

enum class Family : std::uint8_t { mobile, residual, plain, transformer, squeezed };
inline constexpr std::array kFamilyNames = {"mobile", "residual", "plain", "transformer",
                                            "squeezed"};

Net sample_net(Family family, learn::Random& random);

}  // namespace omen::power
