// SPDX-License-Identifier: Apache-2.0
// Small tables of text with named columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omen::interference {

class CsvText {
 public:
  // The first line names the columns; quotes as in RFC 4180. OMEN_INVALID_DATA where a line has
  // another number of cells. `name` is for messages.
  CsvText(std::string_view text, std::string name);
  static CsvText read(const std::string& path);

  std::size_t rows() const { return cells_.size(); }
  const std::vector<std::string>& header() const { return header_; }
  bool has(std::string_view column) const;
  // OMEN_INVALID_DATA where there is no such column.
  std::size_t index(std::string_view column) const;
  const std::string& text(std::size_t row, std::size_t column) const { return cells_[row][column]; }
  // NaN for an empty cell; OMEN_INVALID_DATA for anything else that is no number.
  double number(std::size_t row, std::size_t column) const;
  // Whether every cell of a column is a number or empty.
  bool holds_numbers(std::size_t column) const;

 private:
  std::string name_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> cells_;
};

// The bytes of a file. OMEN_NOT_FOUND where it cannot be read.
std::string read_bytes(const std::string& path);

}  // namespace omen::interference
