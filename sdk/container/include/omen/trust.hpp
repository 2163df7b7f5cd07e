// SPDX-License-Identifier: Apache-2.0
// Which programs and models this user lets run; one small file for each in the user's cache.
#ifndef OMEN_TRUST_HPP
#define OMEN_TRUST_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omen/container.hpp"

namespace omen::trust {

enum class Kind { kProgram, kModel };

// The tensor in which a model that runs a program keeps its command and environment.
inline constexpr const char* kInvocation = "invocation";

struct Record {
  Kind kind = Kind::kProgram;
  std::string what;  // the command and its environment, or the model's name
  std::string time;  // UTC; of a record that is kept
  // Resolved places and their sha256; a program that PATH finds has a place alone.
  std::vector<std::pair<std::string, std::string>> files = {};

  // Equal where the same files would run in the same way.
  std::string id() const;
};

// A line for /bin/sh and, behind line breaks, variables of its environment: the program that its
// first word resolves to here and now, and the digests of files among its words.
Record program(const std::string& invocation);
// The contents of a model by name, which a program gets as its state.
using Contents = std::vector<std::pair<std::string, std::string_view>>;
Record model(Contents contents, const std::string& name);

bool is_trusted(const Record& record);
// OMEN_IO where there is no place to keep it.
void add(Record record);
// Sorted by time; what cannot be read is left out.
std::vector<Record> list();
// Those whose id starts with `id`; how many there were.
std::size_t revoke(const std::string& id);

// Text of others on a terminal: control characters and marks that turn the direction as \xNN.
std::string visible(std::string_view text);

}  // namespace omen::trust

#endif  // OMEN_TRUST_HPP
