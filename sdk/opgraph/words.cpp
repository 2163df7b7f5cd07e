// SPDX-License-Identifier: Apache-2.0
// One table of words for each enumeration.
#include "omen/opgraph/words.hpp"

#include <algorithm>

namespace omen::opgraph {
namespace {

constexpr std::array<std::string_view, 23> kOpClasses = {
    "input",      "parameter",      "matmul",     "conv",        "depthwise_conv", "attention",
    "softmax",    "norm",           "activation", "elementwise", "pool",           "reduce",
    "move",       "view",           "gather",     "loss",        "update",         "all_reduce",
    "all_gather", "reduce_scatter", "all_to_all", "send",        "other"};
static_assert(kOpClasses.size() == static_cast<std::size_t>(OpClass::other) + 1);

constexpr std::array<std::string_view, 4> kPhases = {"forward", "backward", "update",
                                                     "communication"};
static_assert(kPhases.size() == static_cast<std::size_t>(Phase::communication) + 1);

constexpr std::array<std::string_view, 8> kPrecisions = {"fp64", "fp32", "tf32", "bf16",
                                                         "fp16", "fp8",  "int8", "fp4"};
constexpr std::array<double, 8> kWidths = {8, 4, 4, 2, 2, 1, 1, 0.5};
static_assert(kPrecisions.size() == static_cast<std::size_t>(Precision::fp4) + 1);

constexpr std::array<std::string_view, 4> kModes = {"train", "infer", "prefill", "decode"};
static_assert(kModes.size() == static_cast<std::size_t>(Mode::decode) + 1);

template <class Enum>
std::optional<Enum> find_word(std::span<const std::string_view> words, std::string_view text) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

}  // namespace

std::span<const std::string_view> op_class_words() {
  return kOpClasses;
}
std::span<const std::string_view> phase_words() {
  return kPhases;
}
std::span<const std::string_view> precision_words() {
  return kPrecisions;
}
std::span<const std::string_view> mode_words() {
  return kModes;
}

std::string_view word(OpClass kind) {
  return kOpClasses[static_cast<std::size_t>(kind)];
}
std::string_view word(Phase phase) {
  return kPhases[static_cast<std::size_t>(phase)];
}
std::string_view word(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}
std::string_view word(Mode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

std::optional<OpClass> op_class_of(std::string_view text) {
  return find_word<OpClass>(kOpClasses, text);
}
std::optional<Phase> phase_of(std::string_view text) {
  return find_word<Phase>(kPhases, text);
}
std::optional<Precision> precision_of(std::string_view text) {
  return find_word<Precision>(kPrecisions, text);
}
std::optional<Mode> mode_of(std::string_view text) {
  return find_word<Mode>(kModes, text);
}

double bytes_of(Precision precision) {
  return kWidths[static_cast<std::size_t>(precision)];
}

}  // namespace omen::opgraph
