// SPDX-License-Identifier: Apache-2.0
// What the name of a MobileNet or EfficientNet-lite of MLPerf says of it.
#pragma once

#include <optional>
#include <string>

namespace omen::power {

struct NamedNet {
  std::string family, net;  // net: the same for every spelling and precision
  std::string spelling;
  double log_macs = 0;  // millions of multiplications of one image
  double width = 1, pixels = 224;
  bool quantized = false;
};
// Nothing for other names; "non-quantized", "float" and "fp32" are not quantized.
std::optional<NamedNet> parse_net(const std::string& name);

// Board and software in the name of a system: "rpi4-armnn-v21.11-neon" is rpi4 with neon.
std::string board_of(const std::string& system);
std::string runtime_of(const std::string& system);

}  // namespace omen::power
