// SPDX-License-Identifier: Apache-2.0
// Finds the first byte of a text that is not valid UTF-8 (RFC 3629: no overlong forms, no
// surrogates).
#ifndef OMEN_UTF8_HPP
#define OMEN_UTF8_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace omen {
namespace detail {

// Bytes of the sequence at the front of `text`, 0 where it is not valid.
inline std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                                            : 4;
  if (length == 0 || first > 0xF4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace detail

// Position of the first invalid byte; npos where the whole text is valid.
inline std::size_t find_invalid_utf8(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080u;
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t word;
    while (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if (word & kHighBits) break;
      at += sizeof word;
    }
    if (at == text.size()) break;
    const std::size_t length = detail::utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace omen

#endif  // OMEN_UTF8_HPP
