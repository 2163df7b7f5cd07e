// SPDX-License-Identifier: Apache-2.0
// Names that a misspelt one may have meant, for hints.
#ifndef OMEN_NEAR_NAMES_HPP
#define OMEN_NEAR_NAMES_HPP

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omen {

// Edits between two names where a swap of neighbours counts once.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

// At most three of `candidates` that look like `name`, nearest first.
inline std::vector<std::string> near_names(std::string_view name,
                                           const std::vector<std::string>& candidates) {
  std::set<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : candidates) {
    const std::size_t dot = candidate.rfind('.');
    const bool is_last_part = dot != candidate.npos && candidate.substr(dot + 1) == name;
    const bool is_start = name.size() >= 3 && candidate.compare(0, name.size(), name) == 0;
    const std::size_t distance = is_last_part || is_start ? 1 : edit_distance(name, candidate);
    if (distance <= std::max<std::size_t>(1, std::min<std::size_t>(3, name.size() / 3)))
      ranked.emplace(distance, candidate);
  }
  std::vector<std::string> nearest;
  for (const auto& [distance, candidate] : ranked)
    if (nearest.size() < 3) nearest.push_back(candidate);
  return nearest;
}

}  // namespace omen

#endif  // OMEN_NEAR_NAMES_HPP
