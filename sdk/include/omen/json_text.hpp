// SPDX-License-Identifier: Apache-2.0
// Texts and numbers as JSON, for code that writes documents without a JSON library.
#ifndef OMEN_JSON_TEXT_HPP
#define OMEN_JSON_TEXT_HPP

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "omen/utf8.hpp"

namespace omen {

// Appends `text` in quotes. Bytes that are not UTF-8 become U+FFFD, so that a document never fails
// on a name that it quotes.
inline void append_json_quoted(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  std::size_t invalid = std::min(find_invalid_utf8(text), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == invalid) {
      out += "\\ufffd";
      const std::size_t next = find_invalid_utf8(text.substr(i + 1));
      invalid = next == std::string_view::npos ? text.size() : i + 1 + next;
    } else if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else {
      ((out += "\\u00") += kDigits[c >> 4]) += kDigits[c & 15];
    }
  }
  out += '"';
}

inline std::string json_quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_quoted(out, text);
  return out;
}

// Appends at most `digits` significant ones; NaN and infinities become null.
inline void append_json_rounded(std::string& out, double number, int digits) {
  char text[40];
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const auto end =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits).ptr;
  out.append(text, end);
}

}  // namespace omen

#endif  // OMEN_JSON_TEXT_HPP
