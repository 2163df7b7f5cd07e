// SPDX-License-Identifier: Apache-2.0
// CSV text of any kind, read in small batches; what was read is the same after writing.
// covers: host/src/tables/csv.cpp
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "tables/table_io.hpp"

namespace {

using namespace omen;

Table read(const std::string& text, const host::ReadOptions& options) {
  std::istringstream in(text);
  return host::stream_csv(in, "fuzz", options).read_all();
}

std::string written(const Table& table) {
  std::ostringstream out;
  host::write_csv(out, table);
  return out.str();
}

// The first byte picks the options, so that small batches and forced columns are met as well.
host::ReadOptions options_from(std::uint8_t choice) {
  host::ReadOptions options;
  constexpr std::int64_t kRows[] = {1, 2, 3, 65536};
  options.batch_rows = kRows[choice & 3];
  if (choice & 4) options.batch_bytes = 16;
  if (choice & 8) options.text_columns = {"a"};
  if (choice & 16) options.number_columns = {"b"};
  if (choice & 32) options.delimiter = ';';
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const host::ReadOptions options = options_from(data[0]);
  Table table;
  try {
    table = read(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), options);
  } catch (const Error& error) {
    if (error.hint().empty()) std::abort();
    return 0;
  }
  table.validate();
  host::ReadOptions whole = options;
  whole.delimiter = ',';
  whole.batch_rows = 65536;
  whole.batch_bytes = std::size_t{64} << 20;
  // Names and types are settled again by the text, which may only make a later round differ once.
  try {
    const std::string first = written(read(written(table), whole));
    if (first != written(read(first, whole))) std::abort();
  } catch (const Error&) {
    // Batches may hold values that the file as a whole would call typing errors.
    if (table.rows() < 20) std::abort();
  }
  return 0;
}
