// SPDX-License-Identifier: Apache-2.0
// Text for people: aligned tables that fit the terminal, numbers, colours, and errors with their
// hints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace omen {
class Error;
class Table;
}  // namespace omen

namespace omen::host {

struct Terminal {
  bool tty = false;
  bool colour = false;
  int width = 80;  // columns; only meaningful on a tty
};

// What `fd` is connected to. Colour needs a tty, no NO_COLOR, and a TERM other than dumb.
Terminal terminal_of(int fd);

enum class Style : std::uint8_t { kPlain, kStrong, kFaint, kGood, kBad, kWarn, kAccent };
std::string paint(std::string_view text, Style style, bool colour);

// Columns that UTF-8 text takes: wide characters count two, combining ones none.
int display_width(std::string_view text);
// At most `width` columns, with an ellipsis where something was cut.
std::string clip(std::string_view text, int width);
// Breaks at blanks so that no line is longer than `width`; continuation lines start with `indent`
// blanks.
std::string wrap(std::string_view text, int width, int indent);

// About four significant digits, never cutting the whole part: 0.01235, 12.35, 1234568, 1.2e-07.
std::string format_number(double value);
// "1.5 MB", "512 B"; powers of 1000.
std::string format_bytes(double bytes);
// "850 ms", "12.3 s", "4 min 05 s".
std::string format_duration(double seconds);

struct Heading {
  std::string text;
  bool right = false;    // numbers
  bool shrinks = false;  // may be clipped on a narrow terminal
};

struct Cell {
  std::string text;
  Style style = Style::kPlain;
  Cell(std::string t, Style s = Style::kPlain) : text(std::move(t)), style(s) {}  // NOLINT
  Cell(const char* t, Style s = Style::kPlain) : text(t), style(s) {}             // NOLINT
};

class TextTable {
 public:
  explicit TextTable(std::vector<Heading> headings) : headings_(std::move(headings)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const noexcept { return rows_.empty(); }
  // Two blanks between columns. Without `header`, what --plain prints: rows only, never clipped.
  std::string text(const Terminal& terminal, bool header = true) const;

 private:
  std::vector<int> fit(const Terminal& terminal, bool header) const;
  std::string line(const std::vector<Cell>& row, const std::vector<int>& widths, bool clipped,
                   bool colour) const;
  std::vector<Heading> headings_;
  std::vector<std::vector<Cell>> rows_;
};

// One cell of a table as text; nulls and NaN become "-".
std::string cell_text(const Table& table, std::size_t column, std::int64_t row);
// Any table for people: units in the headings, numbers to the right. On a tty at most `max_rows`
// rows and a last line that says how many are left; 0 shows all.
std::string table_text(const Table& table, const Terminal& terminal, bool header = true,
                       std::int64_t max_rows = 0);

// "error: message" and the indented lines of its hint.
std::string error_text(const Error& error, bool colour);

}  // namespace omen::host
