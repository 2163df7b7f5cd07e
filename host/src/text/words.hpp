// SPDX-License-Identifier: Apache-2.0
// Enums that files and people know by words: one table each, and nothing else compares with them.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace omen::host {

// Specialised beside each enum: `static constexpr const char* kWords[]`, in the order of its
// values.
template <class Enum>
struct WordTable;

template <class Enum>
constexpr const char* word_of(Enum value) noexcept {
  return WordTable<Enum>::kWords[static_cast<std::size_t>(value)];
}

template <class Enum>
std::optional<Enum> from_word(std::string_view word) noexcept {
  for (std::size_t i = 0; i < std::size(WordTable<Enum>::kWords); ++i)
    if (word == WordTable<Enum>::kWords[i]) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace omen::host
