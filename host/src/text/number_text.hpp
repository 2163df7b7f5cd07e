// SPDX-License-Identifier: Apache-2.0
// Numbers from and to text: exact, locale-free, shortest form that reads back as the same value.
#ifndef OMEN_HOST_NUMBER_TEXT_HPP
#define OMEN_HOST_NUMBER_TEXT_HPP

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace omen::host {

enum class NumberText { kNumber, kNotANumber, kTooLarge };

inline std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "+5" is common in files, yet from_chars refuses the sign.
inline std::string_view without_plus(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

inline std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  text = without_plus(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes nan, inf and infinity in any case; a value too small for a double becomes the nearest one.
inline NumberText parse_number(std::string_view text, double& value) {
  text = without_plus(text);
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (end != last || error == std::errc::invalid_argument || text.back() == ')')
    return NumberText::kNotANumber;
  if (error == std::errc()) return NumberText::kNumber;
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isinf(value) ? NumberText::kTooLarge : NumberText::kNumber;
}

template <class T>
void append_number(std::string& out, T value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
  // Without a point a whole floating-point number would come back as an integer.
  if constexpr (std::is_floating_point_v<T>)
    if (std::string_view(buffer, static_cast<std::size_t>(end - buffer)).find_first_of(".en") ==
        std::string_view::npos)
      out += ".0";
}

}  // namespace omen::host

#endif  // OMEN_HOST_NUMBER_TEXT_HPP
