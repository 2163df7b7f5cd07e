// SPDX-License-Identifier: Apache-2.0
// Cells of one line of comma-separated text, for tables that hold what no reader of tables knows.
#ifndef OMEN_CSV_LINE_HPP
#define OMEN_CSV_LINE_HPP

#include <string>
#include <string_view>
#include <vector>

namespace omen {

// Commas within quotes do not divide, and two quotes within quotes are one.
inline std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r' && c != '\n')
      cells.back() += c;
  }
  return cells;
}

}  // namespace omen

#endif  // OMEN_CSV_LINE_HPP
