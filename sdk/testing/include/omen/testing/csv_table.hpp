// SPDX-License-Identifier: Apache-2.0
// Small tables written as text in a test: csv_table("workload_id,op,cost:ms:lower\n0,conv,1.5\n").
#ifndef OMEN_TESTING_CSV_TABLE_HPP
#define OMEN_TESTING_CSV_TABLE_HPP

#include <cstdlib>
#include <string>
#include <vector>

#include "omen/table.hpp"

namespace omen::test {

// The fields of each line. A field may be quoted, a quote in it is doubled; blank lines are no
// rows.
inline std::vector<std::vector<std::string>> csv_fields(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string field;
  bool quoted = false;
  const auto end_line = [&] {
    if (!rows.back().empty() || !field.empty()) {
      rows.back().push_back(std::move(field));
      rows.emplace_back();
    }
    field.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && quoted && text.compare(at, 2, "\"\"") == 0) {
      field += text[++at];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n' && c != '\r')) {
      field += c;
    } else if (c == ',') {
      rows.back().push_back(std::move(field));
      field.clear();
    } else if (c == '\n') {
      end_line();
    }
  }
  end_line();
  rows.pop_back();
  return rows;
}

namespace detail {

// What every present field of a column is.
enum class CsvKind { kWhole, kNumber, kText };

inline CsvKind kind_of(const std::string& field) {
  char* end = nullptr;
  std::strtoll(field.c_str(), &end, 10);
  if (*end == '\0') return CsvKind::kWhole;
  std::strtod(field.c_str(), &end);
  return *end == '\0' ? CsvKind::kNumber : CsvKind::kText;
}

// "cost:ms:lower" is the column cost with its unit and direction.
inline std::string split_name(const std::string& head, Metadata& metadata) {
  const std::size_t unit = head.find(':');
  if (unit == std::string::npos) return head;
  const std::size_t direction = head.find(':', unit + 1);
  metadata.emplace_back("omen.unit", head.substr(unit + 1, direction - unit - 1));
  if (direction != std::string::npos)
    metadata.emplace_back("omen.direction", head.substr(direction + 1));
  return head.substr(0, unit);
}

}  // namespace detail

// The first line names the columns, `name`, `name:unit` or `name:unit:direction`. A column of whole
// numbers becomes int64, one of numbers float64, any other dictionary text; an empty field is null.
inline Table csv_table(const std::string& text) {
  const std::vector<std::vector<std::string>> rows = csv_fields(text);
  if (rows.empty()) throw Error(OMEN_INVALID_DATA, "a table needs a line of names");
  TableBuilder builder;
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    detail::CsvKind kind = detail::CsvKind::kWhole;
    std::vector<std::string> fields;
    std::vector<bool> present;
    for (std::size_t row = 1; row < rows.size(); ++row) {
      if (rows[row].size() != rows[0].size())
        throw Error(OMEN_INVALID_DATA, "line " + std::to_string(row + 1) + " has " +
                                           std::to_string(rows[row].size()) + " fields, not " +
                                           std::to_string(rows[0].size()));
      fields.push_back(rows[row][column]);
      present.push_back(!fields.back().empty());
      if (present.back()) kind = std::max(kind, detail::kind_of(fields.back()));
    }
    Metadata metadata;
    const std::string name = detail::split_name(rows[0][column], metadata);
    if (kind == detail::CsvKind::kText) {
      builder.add_categories(name, fields, metadata);
    } else if (kind == detail::CsvKind::kNumber) {
      std::vector<double> values;
      for (const std::string& field : fields) values.push_back(std::strtod(field.c_str(), nullptr));
      builder.add(name, std::move(values), metadata);
    } else {
      std::vector<std::int64_t> values;
      for (const std::string& field : fields)
        values.push_back(std::strtoll(field.c_str(), nullptr, 10));
      builder.add(name, std::move(values), metadata);
    }
    builder.valid(present);
  }
  return builder.finish();
}

}  // namespace omen::test

#endif  // OMEN_TESTING_CSV_TABLE_HPP
