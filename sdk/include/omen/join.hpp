// SPDX-License-Identifier: Apache-2.0
// Lists as text and back: "a, b, c".
#ifndef OMEN_JOIN_HPP
#define OMEN_JOIN_HPP

#include <string>
#include <string_view>
#include <vector>

namespace omen {

// The texts that `text_of` makes of the items, with `separator` between two of them.
template <class Items, class TextOf>
std::string join(const Items& items, std::string_view separator, TextOf&& text_of) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    first = false;
    text += text_of(item);
  }
  return text;
}

template <class Texts>
std::string join(const Texts& texts, std::string_view separator = ", ") {
  return join(texts, separator, [](const auto& text) { return std::string_view(text); });
}

// What stands between the separators; one empty part for no text.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(separator, from);
    parts.emplace_back(text.substr(from, to == std::string_view::npos ? to : to - from));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

// Every line with its end; nothing for no lines.
template <class Lines>
std::string join_lines(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) (text += line) += '\n';
  return text;
}

}  // namespace omen

#endif  // OMEN_JOIN_HPP
