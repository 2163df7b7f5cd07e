// SPDX-License-Identifier: Apache-2.0
// Words of a name, in whatever order they stand.
#include "nets/mobile_names.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace omen::power {
namespace {

constexpr std::int64_t kLitePixels[] = {224, 240, 260, 280, 300};

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

// What the words say before they are checked against each other.
struct Said {
  std::string_view version, size;
  bool minimal = false, resolution = false, precision = false;
  MobileName name;
};

bool understand_number(std::string_view word, Said& said) {
  if (word.find('.') != std::string_view::npos) {
    const auto width = number_in(word, 0.1, 4);
    if (width) said.name.width = *width;
    return width.has_value();
  }
  const auto pixels = number_in(word, 32, 1024);
  if (!pixels) return false;
  said.name.pixels = static_cast<std::int64_t>(*pixels);
  said.resolution = true;
  return true;
}

bool understand(std::string_view word, Said& said) {
  const auto precision = [&](bool whole) {
    // "non-quantized" ends in the same word.
    said.name.whole = said.precision ? said.name.whole && whole : whole;
    return said.precision = true;
  };
  if (word == "v1" || word == "v2" || word == "v3" ||
      (word.size() == 5 && word.substr(0, 4) == "lite" && word[4] >= '0' && word[4] <= '4'))
    said.version = word;
  else if (word == "large" || word == "small")
    said.size = word;
  else if (word == "minimalistic")
    said.minimal = true;
  else if (word == "quantized" || word == "uint8" || word == "int8")
    return precision(true);
  else if (word == "non" || word == "float" || word == "fp32")
    return precision(false);
  else
    return word == "precision" || understand_number(word, said);
  return true;
}

}  // namespace

std::optional<MobileName> parse_mobile(std::string_view name) {
  const std::vector<std::string_view> words = words_of(name);
  if (words.size() < 3 || (words[0] != "mobilenet" && words[0] != "efficientnet"))
    return std::nullopt;
  Said said;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!understand(words[i], said)) return std::nullopt;
  const bool lite = words[0] == "efficientnet", sized = said.version == "v3";
  if (said.version.empty() || (said.version[0] == 'l') != lite || said.size.empty() == sized ||
      (said.minimal && !sized) || !(lite ? said.precision : said.resolution))
    return std::nullopt;
  said.name.family = said.version;
  if (sized)
    said.name.family += "-" + std::string(said.size) + std::string(said.minimal ? "-min" : "");
  if (lite && !said.resolution)
    said.name.pixels = kLitePixels[static_cast<std::size_t>(said.version[4] - '0')];
  return said.name;
}

std::optional<Net> mobile_net(std::string_view name) {
  const std::optional<MobileName> parsed = parse_mobile(name);
  if (!parsed) return std::nullopt;
  Net net = mobile_layers(*parsed);
  net.name = std::string(name);
  return net;
}

}  // namespace omen::power
