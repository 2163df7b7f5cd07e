// SPDX-License-Identifier: Apache-2.0
// Splits lines into cells.
#include "tables/csv_text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <optional>
#include <sstream>

namespace omen::interference {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

std::optional<double> number_in(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

// One record from `at` on, which then stands behind its end of line.
std::vector<std::string> next_record(std::string_view text, std::size_t& at) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"')
      cells.back() += text[++at];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      cells.emplace_back();
    else if (!quoted && c == '\n')
      break;
    else
      cells.back() += c;
  }
  ++at;
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

}  // namespace

CsvText::CsvText(std::string_view text, std::string name) : name_(std::move(name)) {
  std::size_t at = text.rfind("\xef\xbb\xbf", 0) == 0 ? 3 : 0;
  header_ = next_record(text, at);
  while (at < text.size()) {
    std::vector<std::string> cells = next_record(text, at);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (cells.size() != header_.size())
      throw Error(OMEN_INVALID_DATA, name_ + ": row " + std::to_string(cells_.size() + 1) +
                                         " has " + std::to_string(cells.size()) +
                                         " cells, the header " + std::to_string(header_.size()));
    cells_.push_back(std::move(cells));
  }
}

CsvText CsvText::read(const std::string& path) {
  return {read_bytes(path), path};
}

bool CsvText::has(std::string_view column) const {
  return std::find(header_.begin(), header_.end(), column) != header_.end();
}

std::size_t CsvText::index(std::string_view column) const {
  const auto at = std::find(header_.begin(), header_.end(), column);
  if (at == header_.end())
    throw Error(OMEN_INVALID_DATA, name_ + " has no column '" + std::string(column) + "'",
                "Its columns are " + join(header_) + ".");
  return static_cast<std::size_t>(at - header_.begin());
}

double CsvText::number(std::size_t row, std::size_t column) const {
  const std::string& cell = cells_[row][column];
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<double> value = number_in(cell);
  if (!value)
    throw Error(OMEN_INVALID_DATA,
                name_ + ": '" + cell + "' in column " + header_[column] + ", row " +
                    std::to_string(row + 1) + ", is no number",
                "Leave a cell empty where nothing is known.");
  return *value;
}

bool CsvText::holds_numbers(std::size_t column) const {
  return std::all_of(cells_.begin(), cells_.end(), [column](const std::vector<std::string>& row) {
    return row[column].empty() || number_in(row[column]);
  });
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_NOT_FOUND, "cannot open '" + path + "'");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

}  // namespace omen::interference
