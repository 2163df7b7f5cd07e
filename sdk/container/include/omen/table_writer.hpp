// SPDX-License-Identifier: Apache-2.0
// Writes a table that may be larger than memory, batch by batch, into the same file that put_table
// makes of a whole one.
#ifndef OMEN_TABLE_WRITER_HPP
#define OMEN_TABLE_WRITER_HPP

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "omen/table.hpp"

namespace omen::container {

// Columns wait in a file without a name beside the target until finish() puts them behind each
// other; nothing is left where the writer is destroyed before that. Dictionaries are the only thing
// that stays in memory: once they take more than `text_memory`, the largest becomes a plain text
// column, which holds 2 GiB at most. `between` is called between columns, of which there may be
// hundreds of thousands; what it throws ends the call.
class TableWriter {
 public:
  static constexpr std::size_t kTextMemory = std::size_t{32} << 20;

  TableWriter(std::filesystem::path path, std::string table, std::size_t text_memory = kTextMemory,
              std::function<void()> between = {});
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // The first batch settles names, types and metadata; OMEN_INVALID_ARGUMENT for one that differs,
  // OMEN_UNSUPPORTED where it has more columns than the header of a file can name.
  void append(const Table& batch);
  std::int64_t rows() const noexcept;
  // Writes header, columns and digest, and replaces the file atomically.
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omen::container

#endif  // OMEN_TABLE_WRITER_HPP
