// SPDX-License-Identifier: Apache-2.0
// Sizes of named networks, counted over their layers.
#include "measured/net_name.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace omen::power {
namespace {

bool holds(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

std::array<double, 5> sizes_of(const MobileName& name) {
  double dense = 0, depthwise = 0, weights = 0, activations = 0, layers = 0;
  for (const Primitive& layer : mobile_layers(name).layers) {
    if (!has_macs(layer.type)) continue;
    const Amounts amounts = amounts_of(layer);
    ++layers;
    weights += amounts.weights;
    if (layer.type == BlockType::linear) continue;
    (layer.groups > 1 ? depthwise : dense) += amounts.macs;
    activations += amounts.outputs;
  }
  return {std::log(dense), std::log(depthwise), std::log(weights), std::log(activations),
          std::log(layers)};
}

}  // namespace

std::optional<NamedNet> parse_net(const std::string& name) {
  const std::optional<MobileName> parsed = parse_mobile(name);
  if (!parsed) return std::nullopt;
  static const std::array<double, 5> usual = sizes_of({"v2", 0.75, 192, true});
  NamedNet net{*parsed, {}, name, sizes_of(*parsed)};
  for (std::size_t i = 0; i < usual.size(); ++i) net.sizes[i] -= usual[i];
  char text[64];
  std::snprintf(text, sizeof text, "%s-%g-%lld", parsed->family.c_str(), parsed->width,
                static_cast<long long>(parsed->pixels));
  net.net = text;
  return net;
}

std::string board_of(const std::string& system) {
  std::string lower = system;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* board : {"orin", "xavier", "rpi4", "odroid", "firefly", "vim4"})
    if (holds(lower, board)) return board;
  return lower.substr(0, lower.find('-'));
}

std::string runtime_of(const std::string& system) {
  for (const char* runtime : {"opencl", "neon"})
    if (holds(system, runtime)) return runtime;
  return "tflite";
}

}  // namespace omen::power
