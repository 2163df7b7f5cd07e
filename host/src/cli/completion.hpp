// SPDX-License-Identifier: Apache-2.0
// What `omen __complete WORD...` offers; it reads manifests and opens nothing.
#pragma once

#include <initializer_list>
#include <string>

#include "cli/command_line.hpp"
#include "components/registry.hpp"

namespace omen::host::cli {

// Words that may stand at the cursor; a verb adds its own.
class Offers {
 public:
  // `words` are those behind `omen`, the last one unfinished.
  Offers(const Globals& globals, const Words& words);

  void add(const std::string& word, const std::string& help);
  void words(std::initializer_list<const char*> list);
  void components(std::uint32_t kind);
  void plugins();
  void models();
  void tasks(const char* help);
  void datasets();
  void runs();

  // True right behind the verb.
  bool at_first() const { return words_.size() <= 2; }
  const Words& line() const { return words_; }
  const std::string& current() const { return current_; }
  const Registry& registry() const { return registry_; }
  const std::string& text() const { return text_; }

 private:
  const Words& words_;
  Registry registry_;
  std::string current_, text_;
};

// `line` has the flags of the verb on the line.
std::string completions(const Globals& globals, const Words& words, const CommandLine& line);

}  // namespace omen::host::cli
