// SPDX-License-Identifier: Apache-2.0
// Networks by the names that MLPerf's mobile results give them, in all their spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nets/net.hpp"

namespace omen::power {

struct MobileName {
  std::string family;  // v1, v2, v3-large, v3-small, with "-min" for minimalistic, lite0 to lite4
  double width = 1;
  std::int64_t pixels = 224;
  bool whole = true;  // weights and activations of eight bits
};

// "mobilenet-v2-0.75-192-quantized", "mobilenet-v2-precision_uint8-0.75-192",
// "mobilenet-v3-large-minimalistic_224_1.0_float", "efficientnet-lite0-non-quantized" and the like;
// a MobileNet names its resolution, an EfficientNet-lite its precision.
std::optional<MobileName> parse_mobile(std::string_view name);

// The layers of such a network, as published.
Net mobile_layers(const MobileName& name);

std::optional<Net> mobile_net(std::string_view name);

}  // namespace omen::power
