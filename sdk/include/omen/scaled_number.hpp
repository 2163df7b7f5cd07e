// SPDX-License-Identifier: Apache-2.0
// Numbers with a suffix for their size: "64k", "1.5M", "2Gi".
#ifndef OMEN_SCALED_NUMBER_HPP
#define OMEN_SCALED_NUMBER_HPP

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace omen {

// What stands before the suffix, and its factor: k or K, M, G for powers of 1000, Ki, Mi, Gi for
// powers of 1024, 1 without a suffix and 0 for an unknown one.
struct ScaledText {
  std::string_view digits;
  std::int64_t factor = 0;
};

inline ScaledText split_scaled(std::string_view text) noexcept {
  constexpr std::pair<std::string_view, std::int64_t> kFactors[] = {
      {"", 1},           {"k", 1000},       {"K", 1000},       {"M", 1000000},
      {"G", 1000000000}, {"Ki", 1ll << 10}, {"Mi", 1ll << 20}, {"Gi", 1ll << 30}};
  const std::size_t end = text.find_last_of("0123456789.") + 1;  // 0 where there is no digit
  for (const auto& [suffix, factor] : kFactors)
    if (text.substr(end) == suffix) return {text.substr(0, end), factor};
  return {text.substr(0, end), 0};
}

// Takes all of `text`, with a plus sign where there is one.
template <class Number>
std::optional<Number> parse_whole_text(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

// Nothing for what is no finite number with a known suffix.
inline std::optional<double> parse_scaled(std::string_view text) noexcept {
  const ScaledText parts = split_scaled(text);
  const std::optional<double> digits = parse_whole_text<double>(parts.digits);
  if (parts.factor == 0 || !digits) return std::nullopt;
  const double value = *digits * static_cast<double>(parts.factor);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// "2GB" and "512B" as well.
inline std::optional<double> parse_bytes(std::string_view text) noexcept {
  if (!text.empty() && text.back() == 'B') text.remove_suffix(1);
  return parse_scaled(text);
}

}  // namespace omen

#endif  // OMEN_SCALED_NUMBER_HPP
