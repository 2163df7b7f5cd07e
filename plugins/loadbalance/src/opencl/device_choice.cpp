// SPDX-License-Identifier: Apache-2.0
// Reads and writes names of devices.
#include "opencl/device_choice.hpp"

#include <charconv>

namespace omen::loadbalance {

std::string DeviceChoice::id() const {
  const std::string text = std::to_string(platform) + ":" + std::to_string(device);
  return units_of ? text + "/" + std::to_string(units_of) : text;
}

std::optional<DeviceChoice> parse_device(const std::string& text) {
  DeviceChoice choice;
  const char *at = text.data(), *const last = at + text.size();
  const auto read = [&](auto& number, char before) {
    if (before && (at == last || *at++ != before)) return false;
    const auto [end, error] = std::from_chars(at, last, number);
    at = end;
    return error == std::errc() && number >= 0;
  };
  if (!read(choice.platform, '\0') || !read(choice.device, ':')) return std::nullopt;
  if (at == last) return choice;
  if (!read(choice.units_of, '/') || choice.units_of < 1 || at != last) return std::nullopt;
  return choice;
}

std::optional<std::array<DeviceChoice, 2>> parse_devices(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto first = parse_device(text.substr(0, comma)),
             second = parse_device(text.substr(comma + 1));
  if (!first || !second) return std::nullopt;
  return std::array<DeviceChoice, 2>{*first, *second};
}

}  // namespace omen::loadbalance
