// SPDX-License-Identifier: Apache-2.0
// Columns of a table that may be absent, of another type, or null in places.
#ifndef OMEN_OPTIONAL_COLUMNS_HPP
#define OMEN_OPTIONAL_COLUMNS_HPP

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "omen/table.hpp"

namespace omen {

// Numbers; where there is none, what the caller takes instead.
class NumberColumn {
 public:
  NumberColumn(const Table& table, const char* name) {
    if (const auto at = table.find(name); at && is_number(table.type(*at)))
      values_ = table.numbers(*at);
  }
  double at(std::int64_t row, double otherwise = std::numeric_limits<double>::quiet_NaN()) const {
    if (values_.empty()) return otherwise;
    const double value = values_[static_cast<std::size_t>(row)];
    return std::isfinite(value) ? value : otherwise;
  }

 private:
  std::vector<double> values_;
};

// Texts; empty where there is none.
class TextColumn {
 public:
  TextColumn(const Table& table, const char* name) {
    const auto at = table.find(name);
    if (!at || !is_text(table.type(*at))) return;
    const StringColumn column = table.strings(*at);
    for (std::int64_t row = 0; row < column.size(); ++row) values_.emplace_back(column[row]);
  }
  std::string at(std::int64_t row) const {
    return values_.empty() ? std::string() : values_[static_cast<std::size_t>(row)];
  }

 private:
  std::vector<std::string> values_;
};

}  // namespace omen

#endif  // OMEN_OPTIONAL_COLUMNS_HPP
