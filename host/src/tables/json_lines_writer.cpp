// SPDX-License-Identifier: Apache-2.0
// Rows of a table as flat JSON objects, one a line or in an array.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "omen/json_text.hpp"
#include "tables/json_lines.hpp"
#include "text/number_text.hpp"

namespace omen::host {
namespace {

template <class T>
void append_json_number(std::string& out, T value) {
  if (std::is_floating_point_v<T> && !std::isfinite(static_cast<double>(value)))
    out += "null";
  else
    append_number(out, value);
}

template <class T>
void append_list(std::string& out, const ListColumn<T>& list, std::int64_t row) {
  out += '[';
  for (std::int64_t i = 0; i < list.width(); ++i) {
    if (i > 0) out += ',';
    append_json_number(out, list[row][i]);
  }
  out += ']';
}

void append_cell(std::string& out, const Table& table, std::size_t c, std::int64_t row) {
  const Type type = table.type(c);
  if (table.is_null(c, row))
    out += "null";
  else if (is_text(type))
    append_json_quoted(out, table.strings(c)[row]);
  else if (type == Type::kBool)
    out += table.boolean(c, row) ? "true" : "false";
  else if (type == Type::kFloatList)
    append_list(out, table.list<float>(c), row);
  else if (type == Type::kIntList)
    append_list(out, table.list<std::int32_t>(c), row);
  else
    omen::detail::visit_number(
        type, [&](auto zero) { append_json_number(out, table.column<decltype(zero)>(c)[row]); });
}

// The names are the same in every row, so they are escaped once.
std::vector<std::string> row_keys(const Table& table) {
  std::vector<std::string> keys;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    std::string key = c > 0 ? "," : "";
    append_json_quoted(key, table.name(c));
    keys.push_back(key + ":");
  }
  return keys;
}

void append_row(std::string& out, const Table& table, const std::vector<std::string>& keys,
                std::int64_t row) {
  out += '{';
  for (std::size_t c = 0; c < table.columns(); ++c) {
    out += keys[c];
    append_cell(out, table, c, row);
  }
  out += '}';
}

}  // namespace

void write_json_lines(std::ostream& out, const Table& table) {
  constexpr std::size_t kFlushAt = std::size_t{1} << 16;
  const std::vector<std::string> keys = row_keys(table);
  std::string text;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    append_row(text, table, keys, row);
    text += '\n';
    if (text.size() < kFlushAt) continue;
    out << text;
    text.clear();
  }
  out << text;
}

std::string to_json_rows(const Table& table) {
  const std::vector<std::string> keys = row_keys(table);
  std::string text = "[";
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (row > 0) text += ",\n ";
    append_row(text, table, keys, row);
  }
  return text + "]";
}

}  // namespace omen::host
