// SPDX-License-Identifier: Apache-2.0
// Formats cells.
#include "measure/csv_file.hpp"

#include <omen/pending_file.hpp>
#include <sstream>

namespace omen::interference {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char byte : text) {
    if (byte == '"') out += '"';
    out += byte;
  }
  return out + '"';
}

}  // namespace

void write_csv(const Table& table, const std::filesystem::path& file) {
  std::ostringstream text;
  text.precision(6);
  for (std::size_t column = 0; column < table.columns(); ++column)
    text << (column ? "," : "") << quoted(table.name(column));
  text << '\n';
  std::vector<std::vector<double>> numbers(table.columns());
  for (std::size_t column = 0; column < table.columns(); ++column)
    if (is_number(table.type(column))) numbers[column] = table.numbers(column);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::size_t column = 0; column < table.columns(); ++column) {
      if (column) text << ',';
      if (table.is_null(column, row)) continue;
      if (!numbers[column].empty())
        text << numbers[column][static_cast<std::size_t>(row)];
      else
        text << quoted(table.strings(column)[row]);
    }
    text << '\n';
  }
  const std::string bytes = text.str();
  PendingFile out(file);
  out.append(bytes.data(), bytes.size());
  out.commit();
}

}  // namespace omen::interference
