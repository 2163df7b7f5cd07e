// SPDX-License-Identifier: Apache-2.0
// Node texts to numbers: ProGraML's vocabulary from a file of the user, and our own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

class Vocabulary {
 public:
  enum class Lookup {
    kExact,    // a text is known as it stands or not at all
    kSimilar,  // a text that is not known counts as the most specific known one of similar_texts()
  };

  // Text i has id i; a text that occurs twice keeps its first id.
  Vocabulary(std::vector<std::string> texts, Lookup lookup);

  // ProGraML's file (four columns behind each other, the last is the text) is looked up exactly,
  // one that write() made similarly. OMEN_NOT_FOUND, or OMEN_INVALID_DATA with the line.
  static Vocabulary read(const std::string& path);
  // The one that comes with the plugin.
  static const Vocabulary& own();

  std::int32_t id(std::string_view text) const;
  // One id per node.
  std::vector<std::int32_t> ids(const ProgramGraph& graph) const;

  // The id of unknown texts, which is also the number of known ones; an embedding has one row more.
  std::int32_t unknown() const { return static_cast<std::int32_t>(texts_.size()); }
  const std::vector<std::string>& texts() const { return texts_; }
  Lookup lookup() const { return lookup_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int32_t> ids_;
  Lookup lookup_;
};

// What a text may count as, most specific first: array lengths as N and structures without their
// names; then without address space, with one array level, as the element itself, as "function"
// for signatures, with fewer pointer levels, and with the next usual width for integers.
std::vector<std::string> similar_texts(std::string_view text);

// How often each normalised text (the first of similar_texts) occurs.
using TextCounts = std::map<std::string, std::int64_t>;
void count_texts(const ProgramGraph& graph, TextCounts& counts);

// Our vocabulary: every text that occurs at least `least` times, most frequent first and equal
// counts by their text, then what LLVM 14 can produce without any corpus (all opcodes, scalars,
// vectors and pointers to them).
std::string vocabulary_file(const TextCounts& counts, std::int64_t least);

}  // namespace omen::loadbalance
