// SPDX-License-Identifier: Apache-2.0
// Measures, clips and aligns UTF-8 text without touching the locale.
#include "render.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "omen/table.hpp"

namespace omen::host {
namespace {

constexpr int kNarrowest = 20;

// Decodes one character and advances; a malformed byte counts as one character.
char32_t next_char(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  char32_t c = more == 3 ? lead & 0x07 : more == 2 ? lead & 0x0F : more == 1 ? lead & 0x1F : lead;
  for (int i = 0; i < more && at < text.size(); ++i, ++at) {
    const auto next = static_cast<unsigned char>(text[at]);
    if ((next & 0xC0) != 0x80) break;
    c = c << 6 | (next & 0x3F);
  }
  return c;
}

struct Range {
  char32_t first, last;
};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                           {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
                           {0x064B, 0x065F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                           {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

int char_width(char32_t c) {
  if (c < kZero[0].first) return 1;
  const auto inside = [c](const Range& r) { return c >= r.first && c <= r.last; };
  if (std::any_of(std::begin(kZero), std::end(kZero), inside)) return 0;
  return std::any_of(std::begin(kWide), std::end(kWide), inside) ? 2 : 1;
}

std::string trim_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void pad(std::string& line, int count) {
  if (count > 0) line.append(static_cast<std::size_t>(count), ' ');
}

}  // namespace

Terminal terminal_of(int fd) {
  Terminal terminal;
  terminal.tty = isatty(fd) == 1;
  if (!terminal.tty) return terminal;
  winsize size{};
  const char* columns = std::getenv("COLUMNS");
  if (columns && std::atoi(columns) > 0)
    terminal.width = std::atoi(columns);
  else if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    terminal.width = size.ws_col;
  terminal.width = std::max(terminal.width, kNarrowest);
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  terminal.colour = !(no_colour && *no_colour) && term && *term && std::string_view(term) != "dumb";
  return terminal;
}

std::string paint(std::string_view text, Style style, bool colour) {
  static constexpr std::array<const char*, 7> kCodes = {"", "1", "2", "32", "31", "33", "36"};
  const char* code = kCodes[static_cast<std::size_t>(style)];
  if (!colour || !*code || text.empty()) return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) width += char_width(next_char(text, at));
  return width;
}

std::string clip(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return {};
  int used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    const int w = char_width(next_char(text, next));
    if (used + w > width - 1) break;
    used += w;
    at = next;
  }
  return std::string(text.substr(0, at)) + "\u2026";
}

std::string wrap(std::string_view text, int width, int indent) {
  std::string out, word;
  int column = 0;
  const auto flush = [&] {
    if (word.empty()) return;
    const int w = display_width(word);
    if (column > indent && column + 1 + w > width) {
      out += '\n';
      pad(out, indent);
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += w;
    word.clear();
  };
  column = indent;
  for (const char c : text) {
    if (c != ' ' && c != '\n') {
      word += c;
      continue;
    }
    flush();
    if (c == '\n') {
      out += '\n';
      pad(out, indent);
      column = indent;
    }
  }
  flush();
  return out;
}

std::string format_number(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const double size = std::fabs(value);
  char text[40];
  if (size < 1e-4 || size >= 1e15) {
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }
  const int whole = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(0, 4 - whole), value);
  return trim_zeros(text);
}

std::string format_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes,
                kUnits[unit]);
  return text;
}

std::string format_duration(double seconds) {
  char text[40];
  if (seconds < 0.9995)
    std::snprintf(text, sizeof text, "%.0f ms", seconds * 1e3);
  else if (seconds < 59.95)
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  else if (seconds < 3600)
    std::snprintf(text, sizeof text, "%d min %02d s", static_cast<int>(seconds) / 60,
                  static_cast<int>(seconds) % 60);
  else
    std::snprintf(text, sizeof text, "%d h %02d min", static_cast<int>(seconds) / 3600,
                  static_cast<int>(seconds) / 60 % 60);
  return text;
}

// Natural widths; on a tty that is too narrow, columns that may shrink give way, the widest first.
std::vector<int> TextTable::fit(const Terminal& terminal, bool header) const {
  std::vector<int> widths;
  for (const Heading& heading : headings_)
    widths.push_back(header ? display_width(heading.text) : 0);
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c].text));
  if (!terminal.tty || !header) return widths;
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), 2 * static_cast<int>(widths.size()) - 2);
  };
  constexpr int kSmallest = 8;
  while (total() > terminal.width) {
    int widest = -1;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const bool better = widest < 0 || widths[c] > widths[static_cast<std::size_t>(widest)];
      if (headings_[c].shrinks && widths[c] > kSmallest && better) widest = static_cast<int>(c);
    }
    if (widest < 0) break;
    --widths[static_cast<std::size_t>(widest)];
  }
  return widths;
}

std::string TextTable::line(const std::vector<Cell>& row, const std::vector<int>& widths,
                            bool clipped, bool colour) const {
  std::string out;
  for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) {
    const std::string text = clipped ? clip(row[c].text, widths[c]) : row[c].text;
    const int blanks = widths[c] - display_width(text);
    if (c > 0) out += "  ";
    if (headings_[c].right) pad(out, blanks);
    out += paint(text, row[c].style, colour);
    if (!headings_[c].right && c + 1 < row.size()) pad(out, blanks);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string TextTable::text(const Terminal& terminal, bool header) const {
  const std::vector<int> widths = fit(terminal, header);
  const bool clipped = terminal.tty && header;
  std::string out;
  if (header) {
    std::vector<Cell> titles;
    for (const Heading& heading : headings_) titles.emplace_back(heading.text, Style::kFaint);
    out += line(titles, widths, clipped, terminal.colour);
  }
  for (const auto& row : rows_) out += line(row, widths, clipped, terminal.colour);
  return out;
}

std::string cell_text(const Table& table, std::size_t column, std::int64_t row) {
  if (table.is_null(column, row)) return "-";
  const Type type = table.type(column);
  if (type == Type::kBool) return table.boolean(column, row) ? "yes" : "no";
  if (is_text(type)) return std::string(table.strings(column)[row]);
  std::string text;
  const auto join = [&](const auto* values) {
    for (std::int64_t i = 0; i < table.list_size(column); ++i)
      text += (i ? " " : "") + format_number(static_cast<double>(values[i]));
  };
  if (type == Type::kFloatList)
    join(table.list<float>(column)[row]);
  else if (type == Type::kIntList)
    join(table.list<std::int32_t>(column)[row]);
  else if (type == Type::kFloat64)
    text = format_number(table.column<double>(column)[row]);
  else if (type == Type::kFloat32)
    text = format_number(static_cast<double>(table.column<float>(column)[row]));
  else if (type == Type::kUInt64)
    text = std::to_string(table.column<std::uint64_t>(column)[row]);
  else if (type == Type::kInt64)
    text = std::to_string(table.column<std::int64_t>(column)[row]);
  else
    text = std::to_string(static_cast<std::int64_t>(table.slice(row, 1).numbers(column)[0]));
  return text;
}

std::string table_text(const Table& table, const Terminal& terminal, bool header,
                       std::int64_t max_rows) {
  std::vector<Heading> headings;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    const std::string unit = table.metadata(c, "omen.unit");
    std::string title(table.name(c));
    if (!unit.empty() && unit != "1") title += " [" + unit + "]";
    headings.push_back({std::move(title), is_number(table.type(c)), is_text(table.type(c))});
  }
  const bool cut = terminal.tty && header && max_rows > 0 && table.rows() > max_rows;
  const std::int64_t shown = cut ? max_rows : table.rows();
  TextTable text(std::move(headings));
  for (std::int64_t row = 0; row < shown; ++row) {
    std::vector<Cell> cells;
    for (std::size_t c = 0; c < table.columns(); ++c) cells.emplace_back(cell_text(table, c, row));
    text.add(std::move(cells));
  }
  std::string out = text.text(terminal, header);
  if (cut)
    out += paint("... " + std::to_string(table.rows() - shown) +
                     " more rows; see all with --csv, --json or -o FILE",
                 Style::kFaint, terminal.colour) +
           "\n";
  return out;
}

namespace {

// Spaces that all lines but the first begin with; what a compiler puts under a line stays there.
std::size_t common_indent(std::string_view text) {
  std::size_t common = std::string_view::npos;
  for (std::size_t at = text.find('\n'); at < text.size(); at = text.find('\n', at + 1)) {
    const std::size_t first = text.find_first_not_of(' ', at + 1);
    if (first < text.size() && text[first] != '\n') common = std::min(common, first - at - 1);
  }
  return common == std::string_view::npos ? 0 : common;
}

}  // namespace

std::string error_text(const Error& error, bool colour) {
  std::string out = paint("error:", Style::kBad, colour) + " ";
  const auto add_lines = [&out](std::string_view text, bool indented) {
    const std::size_t common = common_indent(text);
    std::size_t skip = 0;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      out += (indented ? "  " : "") + std::string(line.substr(std::min(skip, line.size()))) + "\n";
      indented = true;
      skip = common;
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
  };
  add_lines(error.what(), false);
  const std::string& hint = error.hint();
  const auto titled = [&hint](const char* title) { return hint.starts_with(title); };
  const bool complete =
      titled("looked in") || titled("did you mean") || titled("see ") || titled("hint:");
  add_lines(hint.empty() || complete ? hint : "hint: " + hint, true);
  return out;
}

}  // namespace omen::host
