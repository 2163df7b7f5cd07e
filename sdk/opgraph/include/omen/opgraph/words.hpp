// SPDX-License-Identifier: Apache-2.0
// The words of the enumerations in tables and options, and how wide a number of a precision is.
#ifndef OMEN_OPGRAPH_WORDS_HPP
#define OMEN_OPGRAPH_WORDS_HPP

#include <optional>
#include <span>
#include <string_view>

#include "omen/opgraph/op_graph.hpp"

namespace omen::opgraph {

// In the order of the enumerators.
std::span<const std::string_view> op_class_words();
std::span<const std::string_view> phase_words();
std::span<const std::string_view> precision_words();
std::span<const std::string_view> mode_words();

std::string_view word(OpClass kind);
std::string_view word(Phase phase);
std::string_view word(Precision precision);
std::string_view word(Mode mode);

// Nothing for a text that is not one of the words.
std::optional<OpClass> op_class_of(std::string_view text);
std::optional<Phase> phase_of(std::string_view text);
std::optional<Precision> precision_of(std::string_view text);
std::optional<Mode> mode_of(std::string_view text);

// Of one number in memory; scales of blocks are not in it.
double bytes_of(Precision precision);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_WORDS_HPP
