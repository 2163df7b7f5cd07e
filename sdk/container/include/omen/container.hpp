// SPDX-License-Identifier: Apache-2.0
// Model and table files: the safetensors layout with string metadata, a hardened reader and an
// atomic writer.
#ifndef OMEN_CONTAINER_HPP
#define OMEN_CONTAINER_HPP

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "omen/abi.h"
#include "omen/artifact.hpp"
#include "omen/table.hpp"

namespace omen::container {

// Where a tensor lies in the data part of the file.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

// The largest header that a reader accepts; upstream's own limit.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

// Bytes of one element of a dtype; 0 for a dtype that the format does not know.
std::size_t dtype_width(std::string_view dtype) noexcept;

// A file mapped read-only, checked as a whole before anything is handed out: header size and UTF-8,
// duplicate names, known dtypes, size = product(shape) x width, contiguous data without overlap,
// nothing missing and nothing left over.
class Reader {
 public:
  // OMEN_IO where the file cannot be read, OMEN_INVALID_DATA with the reason where it is not a
  // valid container.
  static Reader open(const std::filesystem::path& path);
  // Over memory that the caller keeps alive through `owner`.
  static Reader from_memory(const void* bytes, std::size_t size, std::shared_ptr<const void> owner);

  // The file name that error messages show.
  const std::string& name() const noexcept { return name_; }

  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  const std::vector<Entry>& entries() const noexcept { return entries_; }  // in file order
  const Entry* find(std::string_view name) const noexcept;
  const void* bytes(const Entry& entry) const noexcept { return data_ + entry.begin; }
  std::uint64_t data_size() const noexcept { return data_size_; }
  // Keeps the mapping alive; what tables made from this file hold on to.
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

  // sha256 over the data part; verify_digest throws where metadata "omen.digest" names another one.
  std::string digest() const;
  void verify_digest() const;

  // The view for a component's load slot; valid while the reader lives.
  const omen_source* source() const;

 private:
  Reader(std::string name, const void* bytes, std::size_t size, std::shared_ptr<const void> owner);

  std::string name_;
  std::map<std::string, std::string> metadata_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
  const char* data_ = nullptr;
  std::uint64_t data_size_ = 0;
  std::shared_ptr<const void> owner_;
  mutable omen_source source_{};
};

// Collects metadata and tensors, then writes the file in one go through a temporary name. Tensors
// are ordered by falling element width, so that every one is aligned to its width without gaps; the
// data part starts at a multiple of 8. OMEN_INVALID_ARGUMENT for what no reader would accept: a
// name twice, a wrong size, an unknown dtype, text that is not UTF-8 or holds a NUL.
class Writer {
 public:
  // Replaces an earlier value of the same key.
  void put_meta(std::string key, std::string value);
  // Copies the bytes.
  void put_tensor(std::string name, std::string_view dtype, std::vector<std::int64_t> shape,
                  const void* bytes, std::size_t size);
  // Adds "omen.digest" and replaces `path` atomically: readers see the old file or the new one,
  // also after a crash.
  void write(const std::filesystem::path& path);
  std::string serialise();

  // The view for a component's save slot; metadata keys that start with "omen." are refused there.
  const omen_sink* sink();

 private:
  struct Tensor {
    std::string name, dtype;
    std::vector<std::int64_t> shape;
    std::string bytes;
  };
  std::vector<const Tensor*> file_order() const;
  std::string header(const std::vector<const Tensor*>& order);

  std::map<std::string, std::string> metadata_;
  std::vector<Tensor> tensors_;
  std::set<std::string, std::less<>> names_;
  omen_sink sink_{};
};

// Tables in a container. Metadata `omen.table.<table>` holds the schema as JSON; the columns are
// tensors:
//   `<table>/<column>`          numbers [rows], lists [rows, width], dictionary codes I32 [rows]
//   `<table>/<column>#bits`     bool values, one bit each, lowest first, U8
//   `<table>/<column>#offsets`  text: I32 [rows + 1], of a dictionary [values + 1]
//   `<table>/<column>#bytes`    text: U8, where the offsets point to
//   `<table>/<column>#valid`    where there are nulls: one bit a row, 1 = present, U8
// A '#' in a column name is written twice. Reading checks every offset and code, then uses the
// mapping in place; a column is copied only where a foreign writer left it misaligned.
void put_table(Writer& writer, const std::string& table, const Table& rows);
std::vector<std::string> table_names(const Reader& reader);
Table get_table(const Reader& reader, const std::string& table);

// Replaces any file atomically, as Writer::write does.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Lower-case hexadecimal sha256.
std::string sha256(const void* bytes, std::size_t size);
std::string sha256_file(const std::filesystem::path& path);

}  // namespace omen::container

#endif  // OMEN_CONTAINER_HPP
