// SPDX-License-Identifier: Apache-2.0
// What the name of a MobileNet or EfficientNet-lite of MLPerf says of it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "nets/mobile_names.hpp"

namespace omen::power {

struct NamedNet {
  MobileName name;
  std::string net;  // the same for every spelling and precision
  std::string spelling;
  // Logarithms of dense and of depthwise multiplications, weights, activations and layers, relative
  // to a usual network.
  std::array<double, 5> sizes{};
};
// Nothing for other names.
std::optional<NamedNet> parse_net(const std::string& name);

// Board and software in the name of a system: "rpi4-armnn-v21.11-neon" is rpi4 with neon.
std::string board_of(const std::string& system);
std::string runtime_of(const std::string& system);

}  // namespace omen::power
