// SPDX-License-Identifier: Apache-2.0
// Functions and blocks come from the tables; constants are placed by their users.
#include "graphs/drawing_layout.hpp"

#include <optional>

#include "graphs/drawing_style.hpp"

namespace omen::host {

void DrawingLayout::arrange(const std::vector<std::size_t>& rows,
                            const std::multimap<std::size_t, std::size_t>& users) {
  for (const std::size_t row : rows)
    if (inside(row) && styles_[row] < kFamilyCount)
      filled_.insert({number(functions_[row]), blocks_[row]});
  for (const std::size_t row : rows)
    if (inside(row)) places_[row] = own_place(row);
  for (const std::size_t row : rows)
    if (!inside(row)) places_[row] = place_of_users(users.equal_range(row));
}

bool DrawingLayout::inside(std::size_t row) const {
  return !functions_[row].empty() && styles_[row] != kDeclaredStyle &&
         styles_[row] != kOutsideStyle;
}

std::int64_t DrawingLayout::number(const std::string& function) {
  const auto [at, fresh] = numbers_.try_emplace(function, static_cast<std::int64_t>(names_.size()));
  if (fresh) names_.push_back(function);
  return at->second;
}

DrawnPlace DrawingLayout::own_place(std::size_t row) {
  const DrawnPlace place{number(functions_[row]), blocks_[row]};
  return filled_.count(place) ? place : DrawnPlace{place.function, -1};
}

DrawnPlace DrawingLayout::place_of_users(Users users) const {
  if (users.first == users.second) return {};
  std::optional<DrawnPlace> common;
  for (auto at = users.first; at != users.second; ++at) {
    const auto found = places_.find(at->second);
    if (found == places_.end()) return {};
    if (!common) common = found->second;
    if (common->function != found->second.function) return {};
    if (common->block != found->second.block) common->block = -1;
  }
  return *common;
}

}  // namespace omen::host
