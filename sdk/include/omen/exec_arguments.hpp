// SPDX-License-Identifier: Apache-2.0
// Words and environment of a program to start, in the form that exec and posix_spawn take.
#ifndef OMEN_EXEC_ARGUMENTS_HPP
#define OMEN_EXEC_ARGUMENTS_HPP

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omen {

// "NAME=value" of this process, with `changes` in place of what they name.
inline std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> entries;
  for (char** at = environ; *at; ++at) {
    const std::string_view entry = *at;
    const std::string_view name = entry.substr(0, entry.find('='));
    const auto changed = [&](const auto& change) { return change.first == name; };
    if (std::none_of(changes.begin(), changes.end(), changed)) entries.emplace_back(entry);
  }
  for (const auto& [name, value] : changes) entries.push_back(name + "=" + value);
  return entries;
}

// Ends with a null pointer; valid as long as `texts` is neither changed nor destroyed.
inline std::vector<char*> exec_pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace omen

#endif  // OMEN_EXEC_ARGUMENTS_HPP
