// SPDX-License-Identifier: Apache-2.0
// How devices are named: "P:D", or "P:D/U" for U of the compute units of one.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace omen::loadbalance {

struct DeviceChoice {
  int platform = 0, device = 0;
  unsigned units_of = 0;  // more than 0: a sub-device of that many compute units

  std::string id() const;
};

// Nothing where the text names no device.
std::optional<DeviceChoice> parse_device(const std::string& text);
// Two of them with a comma between.
std::optional<std::array<DeviceChoice, 2>> parse_devices(const std::string& text);

}  // namespace omen::loadbalance
