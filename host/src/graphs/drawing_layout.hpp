// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a program are drawn: in which function, and in which of its blocks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace omen::host {

// Where a node is drawn: inside of a function and perhaps of one of its blocks, or beside them.
struct DrawnPlace {
  std::int64_t function = -1, block = -1;
  auto operator<=>(const DrawnPlace&) const = default;
};

// Finds the functions and blocks of one graph, where its tables tell them.
class DrawingLayout {
 public:
  DrawingLayout(const std::vector<std::string>& functions, const std::vector<std::int64_t>& blocks,
                const std::vector<std::size_t>& styles)
      : functions_(functions), blocks_(blocks), styles_(styles) {}

  // `users` holds the rows that use each value.
  void arrange(const std::vector<std::size_t>& rows,
               const std::multimap<std::size_t, std::size_t>& users);
  DrawnPlace place(std::size_t row) const { return places_.at(row); }
  const std::string& function(std::int64_t number) const {
    return names_[static_cast<std::size_t>(number)];
  }

 private:
  using Users = std::pair<std::multimap<std::size_t, std::size_t>::const_iterator,
                          std::multimap<std::size_t, std::size_t>::const_iterator>;

  bool inside(std::size_t row) const;
  std::int64_t number(const std::string& function);
  // Arguments carry the number of a block that their function does not have.
  DrawnPlace own_place(std::size_t row);
  // A constant is drawn where all of its users are.
  DrawnPlace place_of_users(Users users) const;

  const std::vector<std::string>& functions_;
  const std::vector<std::int64_t>& blocks_;
  const std::vector<std::size_t>& styles_;
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> names_;
  std::set<DrawnPlace> filled_;
  std::unordered_map<std::size_t, DrawnPlace> places_;
};

}  // namespace omen::host
