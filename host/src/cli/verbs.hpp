// SPDX-License-Identifier: Apache-2.0
// The verbs of omen: each stands in its own file, which describes what it takes and answers it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "omen/abi.h"

namespace omen::host::cli {

class CommandLine;
class Offers;

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;  // one command a line
  // Adds the words and flags of the verb, and the function that answers them.
  void (*describe)(CommandLine&);
  // Offers what may stand behind the verb; nothing where empty.
  void (*complete)(Offers&) = nullptr;
  // The kind of component that --with names.
  std::uint32_t with = OMEN_PREDICTOR;
};

// In the order of the help.
std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

}  // namespace omen::host::cli
