// SPDX-License-Identifier: Apache-2.0
// Tables from and to files that people have: CSV, JSON lines, and our container.
#ifndef OMEN_HOST_TABLE_IO_HPP
#define OMEN_HOST_TABLE_IO_HPP

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "omen/table.hpp"

namespace omen::host {

// How far a reader looks before it settles the type of a column.
struct ReadOptions {
  std::vector<std::string> text_columns;  // read as text whatever they look like
  std::int64_t batch_rows = 65536;        // rows per batch of the streaming readers
};

// RFC 4180 CSV with a header line; BOM, CRLF and quoted newlines are fine; empty fields are nulls.
// Columns become int64, float64, bool (true/false) or dictionary text. Errors name the file, line
// and column. One pass, constant memory: the type of a column is settled by the first batch, and a
// later value that does not fit it is an error that names its line.
TableStream stream_csv(std::istream& in, const std::string& name, const ReadOptions& options = {});
// One JSON object a line; nested objects and arrays other than number lists are refused with the
// line.
TableStream stream_json_lines(std::istream& in, const std::string& name,
                              const ReadOptions& options = {});

// By suffix: .csv, .tsv, .jsonl, .ndjson, .json (an array of objects), .omt (its only table, or
// `table`).
Table read_table(const std::filesystem::path& path, const std::string& table = {});

void write_csv(std::ostream& out, const Table& table);
void write_json_lines(std::ostream& out, const Table& table);
// A JSON array of row objects; nulls and NaN become null.
std::string to_json_rows(const Table& table);

}  // namespace omen::host

#endif  // OMEN_HOST_TABLE_IO_HPP
