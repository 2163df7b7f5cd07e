// SPDX-License-Identifier: Apache-2.0
// Tables from and to files that people have: CSV, JSON lines, and our container.
#ifndef OMEN_HOST_TABLE_IO_HPP
#define OMEN_HOST_TABLE_IO_HPP

#include <atomic>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "omen/table.hpp"

namespace omen::host {

// Asked while text is read, which may take minutes; null: nothing cancels.
inline std::atomic<bool (*)() noexcept> reading_cancelled{nullptr};

struct ReadOptions {
  std::vector<std::string> text_columns;    // read as text whatever they look like
  std::vector<std::string> number_columns;  // anything but a number or an empty field is an error
  std::int64_t batch_rows = 65536;          // a batch ends at this many rows
  std::size_t batch_bytes = std::size_t{64} << 20;  // or at this much text, whichever comes first
  char delimiter = ',';                             // CSV only
  std::string unnamed_column;  // CSV: name for a column whose header is empty; empty: an error
  std::string line_column;     // not empty: adds this column with the line of each row
};

// A value does not fit the type that the first rows settled for its column.
class ColumnTypeError : public Error {
 public:
  using Error::Error;
};

// RFC 4180 CSV with a header line; a byte order mark, CRLF and quoted newlines are fine, blank
// lines are skipped. An empty field is a null, a quoted empty one in a text column an empty text;
// nan and inf are numbers. Columns become int64, float64, bool (true/false) or dictionary text. One
// pass, constant memory: the type of a column is settled by the first batch, and a later value that
// does not fit it is an error. A column in which nearly every value is a number is one, so that a
// typing error is reported and does not turn it into text, as ColumnTypeError. Errors are
// OMEN_INVALID_DATA and start with name:line:column. `in` must outlive the stream.
TableStream stream_csv(std::istream& in, const std::string& name, const ReadOptions& options = {});
// One JSON object a line; its members are numbers, text, booleans, null or lists of numbers, all
// lists of a column equally long. A missing member is a null; NaN, Infinity and -Infinity are
// accepted as Python writes them. Members that the first batch does not have, duplicate names and
// nested values are errors with their place.
TableStream stream_json_lines(std::istream& in, const std::string& name,
                              const ReadOptions& options = {});

// By suffix: .csv, .tsv, .jsonl, .ndjson, .json (an array of objects), .omt (its only table, or
// `table`). The whole file settles the types of its columns; batch_rows, batch_bytes and delimiter
// of `options` are not used.
Table read_table(const std::filesystem::path& path, const std::string& table = {},
                 ReadOptions options = {});

// The reader gives the same values back: every number in its shortest form, floating point always
// with a point. A list column becomes `name.0`, `name.1`, ...; in a table of one column a null is
// written as a quoted empty field, because a blank line is no row.
void write_csv(std::ostream& out, const Table& table);
// One object a line; nulls, NaN and infinities become null, as JSON has no others.
void write_json_lines(std::ostream& out, const Table& table);
// A JSON array of the same objects.
std::string to_json_rows(const Table& table);

}  // namespace omen::host

#endif  // OMEN_HOST_TABLE_IO_HPP
