// SPDX-License-Identifier: Apache-2.0
// What a component says that it reads: "workloads.batch_size", "nodes@ops/1", "edges:optional".
#ifndef OMEN_READS_HPP
#define OMEN_READS_HPP

#include <string>
#include <string_view>

namespace omen {

// TABLE[.COLUMN][@DIALECT][:optional]. A dialect may hold points, a column may not hold '@' or ':'.
struct ReadEntry {
  std::string table, column, dialect;
  bool optional = false;

  // Names no column, or every one with "*".
  bool any_column() const noexcept { return column.empty() || column == "*"; }
};

inline ReadEntry parse_read(std::string_view text) {
  ReadEntry entry;
  const auto cut = [&text](char separator) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) return std::string_view();
    const std::string_view behind = text.substr(at + 1);
    text = text.substr(0, at);
    return behind;
  };
  entry.optional = cut(':') == "optional";
  entry.dialect = cut('@');
  entry.column = cut('.');
  entry.table = text;
  return entry;
}

template <class Texts>
bool reads_table(const Texts& reads, std::string_view table) {
  for (const auto& text : reads)
    if (parse_read(text).table == table) return true;
  return false;
}

}  // namespace omen

#endif  // OMEN_READS_HPP
