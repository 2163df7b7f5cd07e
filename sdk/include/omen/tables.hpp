// SPDX-License-Identifier: Apache-2.0
// The tables of omen/tables.h as values that a program can walk through.
#ifndef OMEN_TABLES_HPP
#define OMEN_TABLES_HPP

#include <string>
#include <string_view>
#include <vector>

#include "omen/tables.h"

namespace omen::tables {

struct TableSpec {
  std::string_view name, meaning;
};

struct ColumnSpec {
  std::string_view table, name, type, presence, fallback, meaning;

  bool required() const noexcept { return presence == OMEN_REQUIRED; }
  // A reader finds the column, whoever put it there.
  bool always_there() const noexcept { return presence != OMEN_OPTIONAL; }
  // "<target>" stands for columns that the task names.
  bool is_pattern() const noexcept { return name.front() == '<'; }
};

#define OMEN_TABLE_ENTRY(name, meaning) {name, meaning},
inline constexpr TableSpec kTables[] = {OMEN_TABLES(OMEN_TABLE_ENTRY)};
#undef OMEN_TABLE_ENTRY

#define OMEN_COLUMN_ENTRY(table, name, type, presence, fallback, meaning) \
  {table, name, type, presence, fallback, meaning},
inline constexpr ColumnSpec kColumns[] = {OMEN_TABLE_COLUMNS(OMEN_COLUMN_ENTRY)};
#undef OMEN_COLUMN_ENTRY

// Tables that hold answers, which only fit may see.
constexpr bool is_withheld(std::string_view table) noexcept {
#define OMEN_WITHHELD_ENTRY(name) \
  if (table == (name)) return true;
  OMEN_WITHHELD_TABLES(OMEN_WITHHELD_ENTRY)
#undef OMEN_WITHHELD_ENTRY
  return false;
}

// Columns that whoever writes the table must write; those that the task names are left out.
inline std::vector<std::string> required_columns(std::string_view table) {
  std::vector<std::string> names;
  for (const ColumnSpec& column : kColumns)
    if (column.table == table && column.required() && !column.is_pattern())
      names.emplace_back(column.name);
  return names;
}

}  // namespace omen::tables

#endif  // OMEN_TABLES_HPP
