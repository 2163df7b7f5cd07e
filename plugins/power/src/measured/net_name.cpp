// SPDX-License-Identifier: Apache-2.0
// Published sizes of the families, scaled by width and resolution.
#include "measured/net_name.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <regex>

namespace omen::power {
namespace {

struct Family {
  const char* name;
  double mega_macs, pixels;  // at width 1
};
constexpr Family kFamilies[] = {
    {"v1", 569, 224},      {"v2", 300, 224},           {"v3-large", 219, 224},
    {"v3-small", 56, 224}, {"v3-large-min", 209, 224}, {"v3-small-min", 65, 224},
    {"lite0", 407, 224},   {"lite1", 631, 240},        {"lite2", 896, 260},
    {"lite3", 1400, 280},  {"lite4", 2640, 300},
};

bool holds(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

std::string family_name(const std::string& name) {
  static const std::regex efficient("efficientnet.*(lite[0-4])"), mobile("^mobilenet-(v[123])");
  std::smatch found;
  if (std::regex_search(name, found, efficient)) return found[1];
  if (!std::regex_search(name, found, mobile)) return {};
  if (found[1] != "v3") return found[1];
  return std::string("v3-") + (holds(name, "large") ? "large" : "small") +
         (holds(name, "minimal") ? "-min" : "");
}

}  // namespace

std::optional<NamedNet> parse_net(const std::string& name) {
  NamedNet net;
  net.family = family_name(name);
  const auto* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                    [&](const Family& f) { return net.family == f.name; });
  if (family == std::end(kFamilies)) return std::nullopt;
  static const std::regex width("[-_]([01]\\.[0-9]+)(-|_|$)"),
      pixels("[-_](96|128|160|192|224)(-|_|$)");
  std::smatch found;
  if (std::regex_search(name, found, width))
    net.width = std::strtod(found[1].str().c_str(), nullptr);
  net.pixels = family->pixels;
  if (std::regex_search(name, found, pixels))
    net.pixels = std::strtod(found[1].str().c_str(), nullptr);
  net.quantized = !(holds(name, "non-quantized") || holds(name, "float") || holds(name, "fp32"));
  // Most layers shrink in both channel counts, the first and the last in one.
  const double channels = 0.9 * net.width * net.width + 0.1 * net.width;
  net.log_macs = std::log(family->mega_macs * channels * std::pow(net.pixels / family->pixels, 2));
  char text[64];
  std::snprintf(text, sizeof text, "%s-%g-%g", net.family.c_str(), net.width, net.pixels);
  net.net = text;
  net.spelling = name;
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
