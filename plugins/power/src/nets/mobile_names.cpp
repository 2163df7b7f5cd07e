// SPDX-License-Identifier: Apache-2.0
// MobileNet v1 and v2 as published, at any width and resolution.
#include "nets/mobile_names.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "nets/net_builder.hpp"

namespace omen::power {
namespace {

constexpr std::int64_t kClasses = 1000;

// Channels are rounded to multiples of eight, and never by more than a tenth downwards.
std::int64_t channels(double wanted) {
  const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + 8 : rounded;
}

void build_v1(Net& net, double width) {
  struct Stage {
    std::int64_t cout, stride, repeats;
  };
  constexpr Stage kStages[] = {{64, 1, 1},  {128, 2, 1}, {128, 1, 1},  {256, 2, 1}, {256, 1, 1},
                               {512, 2, 1}, {512, 1, 5}, {1024, 2, 1}, {1024, 1, 1}};
  NetBuilder build(net);
  std::int32_t block = 0;
  const auto next = [&] { build.begin_block(block++, 1, 0); };
  const auto scaled = [&](std::int64_t wide) {
    return std::max<std::int64_t>(8, static_cast<std::int64_t>(static_cast<double>(wide) * width));
  };
  next();
  Place at = build.conv({-1, net.input}, same_conv(scaled(32), 3, 2));
  for (const Stage& stage : kStages)
    for (std::int64_t i = 0; i < stage.repeats; ++i) {
      next();
      at = build.conv(at, same_conv(at.shape.c, 3, stage.stride, at.shape.c));
      at = build.conv(at, same_conv(scaled(stage.cout), 1, 1));
    }
  next();
  at = build.global_pool(at);
  next();
  build.linear(at, kClasses, true);
}

void build_v2(Net& net, double width) {
  struct Stage {
    double expand;
    std::int64_t cout, repeats, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  NetBuilder build(net);
  std::int32_t block = 0;
  const auto next = [&] { build.begin_block(block++, 1, 0); };
  next();
  Place at = build.conv({-1, net.input}, same_conv(channels(32 * width), 3, 2));
  for (const Stage& stage : kStages)
    for (std::int64_t i = 0; i < stage.repeats; ++i) {
      next();
      const std::int64_t cout = channels(static_cast<double>(stage.cout) * width);
      const std::int64_t stride = i == 0 ? stage.stride : 1;
      at = build.mbconv(at, cout, 3, stride, stage.expand, 0, stride == 1 && at.shape.c == cout);
    }
  next();
  at = build.conv(at, same_conv(std::max<std::int64_t>(1280, channels(1280 * width)), 1, 1));
  next();
  at = build.global_pool(at);
  next();
  build.linear(at, kClasses, true);
}

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("-_"), name.size());
    words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

std::optional<double> number_in(std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    return std::nullopt;
  return value;
}

}  // namespace

std::optional<Net> mobile_net(std::string_view name) {
  const std::vector<std::string_view> words = words_of(name);
  if (words.size() < 4 || words[0] != "mobilenet" || (words[1] != "v1" && words[1] != "v2"))
    return std::nullopt;
  const auto width = number_in(words[2], 0.1, 4), size = number_in(words[3], 32, 1024);
  if (!width || !size) return std::nullopt;
  Net net;
  net.name = std::string(name);
  const auto pixels = static_cast<std::int64_t>(*size);
  net.input = {3, pixels, pixels};
  // "non-quantized" ends in the same word.
  const bool whole = words.back() == "quantized" && words[words.size() - 2] != "non";
  net.bits = whole ? Bits{8, 8, 32} : Bits{32, 32, 32};
  if (words.size() == 4) net.bits = {8, 8, 32};
  words[1] == "v1" ? build_v1(net, *width) : build_v2(net, *width);
  return net;
}

}  // namespace omen::power
