// SPDX-License-Identifier: Apache-2.0
// Spools the columns of a long table and puts them behind each other at the end.
#include "omen/table_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "hash.hpp"
#include "header_room.hpp"
#include "layout.hpp"
#include "omen/pending_file.hpp"
#include "omen/utf8.hpp"

namespace omen::container {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

// A file without a name that grows by pieces of many columns.
class Spool {
 public:
  explicit Spool(const std::filesystem::path& target) {
    const std::filesystem::path parent = target.has_parent_path() ? target.parent_path() : ".";
    std::string name = (parent / ".omen-spool-XXXXXX").string();
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) fail("create a temporary file in '" + parent.string() + "'");
    ::unlink(name.c_str());
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() { ::close(fd_); }

  std::uint64_t append(const char* bytes, std::size_t size) {
    const std::uint64_t begin = end_;
    for (std::size_t done = 0; done < size;) {
      const ssize_t count =
          ::pwrite(fd_, bytes + done, size - done, static_cast<off_t>(begin + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write a temporary file");
      done += static_cast<std::size_t>(count);
    }
    end_ += size;
    return begin;
  }
  void read(std::uint64_t offset, char* to, std::size_t size) const {
    while (size > 0) {
      const ssize_t count = ::pread(fd_, to, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail("read a temporary file");
      to += count;
      offset += static_cast<std::uint64_t>(count);
      size -= static_cast<std::size_t>(count);
    }
  }
  // Gives the room back while the final file grows; a file system that cannot only needs more of
  // it.
  void forget(std::uint64_t offset, std::uint64_t size) const noexcept {
    [[maybe_unused]] const int done =
        ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(size));
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw Error(OMEN_IO, "cannot " + what + ": " + std::strerror(errno),
                "Check that the directory is writable and has room for the table twice.");
  }
  int fd_ = -1;
  std::uint64_t end_ = 0;
};

// Bytes of one tensor, the last few in memory and the others in the spool.
class SpooledBytes {
 public:
  SpooledBytes(Spool& spool, std::size_t buffer) : spool_(&spool), limit_(buffer) {}

  void append(const void* bytes, std::size_t size) {
    size_ += size;
    if (buffer_.size() + size >= limit_) flush();
    if (size >= limit_)
      extents_.emplace_back(spool_->append(static_cast<const char*>(bytes), size), size);
    else
      buffer_.append(static_cast<const char*>(bytes), size);
  }
  std::uint64_t size() const noexcept { return size_; }

  // Every byte in order, in pieces whose size is a multiple of 8 except for the last of a run.
  template <class Take>
  void read(const Take& take) const {
    std::vector<char> piece(static_cast<std::size_t>(
        std::min<std::uint64_t>(kCopyBytes, std::max<std::uint64_t>(size_, 8))));
    for (const auto& [offset, size] : extents_)
      for (std::uint64_t at = 0; at < size; at += piece.size()) {
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), size - at));
        spool_->read(offset + at, piece.data(), count);
        take(piece.data(), count);
      }
    if (buffer_.empty()) return;
    std::vector<char> rest(buffer_.begin(), buffer_.end());
    take(rest.data(), rest.size());
  }
  void clear() {
    for (const auto& [offset, size] : extents_) spool_->forget(offset, size);
    extents_.clear();
    buffer_.clear();
    size_ = 0;
  }

 private:
  void flush() {
    if (buffer_.empty()) return;
    extents_.emplace_back(spool_->append(buffer_.data(), buffer_.size()), buffer_.size());
    buffer_.clear();
  }

  Spool* spool_;
  std::size_t limit_;
  std::string buffer_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents_;
  std::uint64_t size_ = 0;
};

// Bits, lowest first.
class SpooledBits {
 public:
  SpooledBits(Spool& spool, std::size_t buffer) : bytes_(spool, buffer) {}

  void add(bool bit) {
    byte_ = static_cast<std::uint8_t>(byte_ | (bit ? 1u << filled_ : 0u));
    if (++filled_ == 8) flush();
  }
  SpooledBytes& finish() {
    if (filled_ > 0) flush();
    return bytes_;
  }

 private:
  void flush() {
    bytes_.append(&byte_, 1);
    byte_ = 0;
    filled_ = 0;
  }
  SpooledBytes bytes_;
  std::uint8_t byte_ = 0;
  unsigned filled_ = 0;
};

// Distinct texts of a column and their codes in order of appearance.
class Dictionary {
 public:
  std::int32_t code_of(std::string_view text) {
    if (const auto known = codes_.find(text); known != codes_.end()) return known->second;
    if (find_invalid_utf8(text) != std::string_view::npos)
      throw Error(OMEN_INVALID_ARGUMENT, "a text column holds text that is not UTF-8");
    const auto code = static_cast<std::int32_t>(texts_.size());
    // A node of a hash table, its string and the pointer to it.
    constexpr std::size_t kEntry = 96;
    memory_ += text.size() + kEntry;
    texts_.push_back(&codes_.emplace(std::string(text), code).first->first);
    return code;
  }
  std::size_t memory() const noexcept { return memory_; }
  const std::vector<const std::string*>& texts() const noexcept { return texts_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> codes_;
  std::vector<const std::string*> texts_;
  std::size_t memory_ = 0;
};

// One tensor on its way into the file.
struct Piece {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  SpooledBytes* bytes;
  bool codes = false;  // -1 marks a null while spooled and becomes 0 in the file
};

class ColumnSpool {
 public:
  ColumnSpool(Spool& spool, std::size_t buffer, const Table& like, std::size_t column)
      : spool_(spool),
        buffer_(buffer),
        name_(like.name(column)),
        type_(like.type(column)),
        width_(like.list_size(column)),
        metadata_(like.metadata(column)),
        values_(spool, buffer),
        offsets_(spool, buffer),
        bits_(spool, buffer) {
    if (type_ == Type::kUtf8) start_text();
  }

  bool fits(const Table& batch, std::size_t column) const {
    const bool text = is_text(type_) && is_text(batch.type(column));
    return batch.name(column) == name_ && (text || batch.type(column) == type_) &&
           batch.list_size(column) == width_;
  }
  void append(const Table& batch, std::size_t column) {
    add_validity(batch, column);
    const auto rows = static_cast<std::size_t>(batch.rows());
    if (type_ == Type::kBool) {
      for (std::int64_t row = 0; row < batch.rows(); ++row) bits_.add(batch.boolean(column, row));
    } else if (type_ == Type::kDictionary) {
      add_codes(batch.strings(column));
    } else if (type_ == Type::kUtf8) {
      const StringColumn texts = batch.strings(column);
      for (std::int64_t row = 0; row < batch.rows(); ++row) add_text(texts[row]);
    } else if (type_ == Type::kFloatList) {
      values_.append(batch.list<float>(column).data(),
                     rows * static_cast<std::size_t>(width_) * sizeof(float));
    } else if (type_ == Type::kIntList) {
      values_.append(batch.list<std::int32_t>(column).data(),
                     rows * static_cast<std::size_t>(width_) * sizeof(std::int32_t));
    } else {
      omen::detail::visit_number(type_, [&](auto zero) {
        values_.append(batch.column<decltype(zero)>(column).data(), rows * sizeof zero);
      });
    }
    rows_ += batch.rows();
  }

  std::size_t dictionary_memory() const noexcept { return dictionary_.memory(); }
  // Writes every text out instead of its code.
  void become_text() {
    const Dictionary dictionary = std::exchange(dictionary_, {});
    SpooledBytes codes = std::exchange(values_, SpooledBytes(spool_, buffer_));
    type_ = Type::kUtf8;
    start_text();
    codes.read([&](const char* bytes, std::size_t size) {
      for (std::size_t at = 0; at < size; at += sizeof(std::int32_t)) {
        std::int32_t code;
        std::memcpy(&code, bytes + at, sizeof code);
        add_text(code < 0 ? std::string_view()
                          : *dictionary.texts()[static_cast<std::size_t>(code)]);
      }
    });
    codes.clear();
  }

  ColumnSchema schema() const { return {name_, type_, width_, valid_ != nullptr, metadata_}; }
  // The tensors in the order in which put_table puts them.
  void add_pieces(const std::string& table, std::vector<Piece>& pieces) {
    const std::string name = tensor_name(table, name_);
    const auto bytes = [](const SpooledBytes& b) { return static_cast<std::int64_t>(b.size()); };
    if (type_ == Type::kBool) {
      SpooledBytes& bits = bits_.finish();
      pieces.push_back({name + "#bits", "U8", {bytes(bits)}, &bits});
    } else if (is_text(type_)) {
      if (type_ == Type::kDictionary) write_dictionary();
      SpooledBytes& texts = type_ == Type::kDictionary ? *dictionary_bytes_ : values_;
      pieces.push_back({name + "#offsets",
                        "I32",
                        {bytes(offsets_) / static_cast<std::int64_t>(sizeof(std::int32_t))},
                        &offsets_});
      pieces.push_back({name + "#bytes", "U8", {bytes(texts)}, &texts});
      if (type_ == Type::kDictionary) pieces.push_back({name, "I32", {rows_}, &values_, true});
    } else {
      std::vector<std::int64_t> shape{rows_};
      if (is_list(type_)) shape.push_back(width_);
      pieces.push_back({name, dtype_of_column(type_), std::move(shape), &values_});
    }
    if (!valid_) return;
    SpooledBytes& valid = valid_->finish();
    pieces.push_back({name + "#valid", "U8", {bytes(valid)}, &valid});
  }

 private:
  void start_text() {
    const std::int32_t zero = 0;
    offsets_.append(&zero, sizeof zero);
  }
  void add_text(std::string_view text) {
    if (find_invalid_utf8(text) != std::string_view::npos)
      throw Error(OMEN_INVALID_ARGUMENT, "column '" + name_ + "' holds text that is not UTF-8");
    values_.append(text.data(), text.size());
    add_offset(values_);
  }
  void add_offset(const SpooledBytes& texts) {
    if (texts.size() > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
      throw Error(OMEN_UNSUPPORTED, "text column '" + name_ + "' exceeds 2 GiB",
                  "Leave the column out, or split the table into several datasets.");
    const auto end = static_cast<std::int32_t>(texts.size());
    offsets_.append(&end, sizeof end);
  }
  void add_codes(const StringColumn& column) {
    std::vector<std::int32_t> codes(static_cast<std::size_t>(column.size()));
    if (column.codes()) {
      // Each distinct text of the batch is looked up once.
      std::vector<std::int32_t> known(static_cast<std::size_t>(column.value_count()), -1);
      for (std::int64_t row = 0; row < column.size(); ++row) {
        std::int32_t& code = codes[static_cast<std::size_t>(row)];
        code = -1;
        if (column.is_null(row)) continue;
        std::int32_t& global = known[static_cast<std::size_t>(column.codes()[row])];
        if (global < 0) global = dictionary_.code_of(column.value(column.codes()[row]));
        code = global;
      }
    } else {
      for (std::int64_t row = 0; row < column.size(); ++row)
        codes[static_cast<std::size_t>(row)] =
            column.is_null(row) ? -1 : dictionary_.code_of(column[row]);
    }
    values_.append(codes.data(), codes.size() * sizeof(std::int32_t));
  }
  void write_dictionary() {
    dictionary_bytes_ = std::make_unique<SpooledBytes>(spool_, buffer_);
    start_text();
    for (const std::string* text : dictionary_.texts()) {
      dictionary_bytes_->append(text->data(), text->size());
      add_offset(*dictionary_bytes_);
    }
  }
  void add_validity(const Table& batch, std::size_t column) {
    for (std::int64_t row = 0; row < batch.rows(); ++row) {
      const bool null = batch.is_null(column, row);
      if (null && !valid_) {
        valid_ = std::make_unique<SpooledBits>(spool_, buffer_);
        for (std::int64_t before = 0; before < rows_ + row; ++before) valid_->add(true);
      }
      if (valid_) valid_->add(!null);
    }
  }

  Spool& spool_;
  std::size_t buffer_;
  std::string name_;
  Type type_;
  std::int64_t width_;
  Metadata metadata_;
  std::int64_t rows_ = 0;
  SpooledBytes values_, offsets_;  // of text: bytes and where each one ends
  SpooledBits bits_;
  std::unique_ptr<SpooledBits> valid_;  // from the first null on
  Dictionary dictionary_;
  std::unique_ptr<SpooledBytes> dictionary_bytes_;
};

void copy_piece(const Piece& piece, PendingFile& file, Sha256& hash) {
  piece.bytes->read([&](char* bytes, std::size_t size) {
    if (piece.codes)
      for (std::size_t at = 0; at < size; at += sizeof(std::int32_t)) {
        std::int32_t code;
        std::memcpy(&code, bytes + at, sizeof code);
        code = std::max(code, 0);
        std::memcpy(bytes + at, &code, sizeof code);
      }
    hash.update(bytes, size);
    file.append(bytes, size);
  });
  piece.bytes->clear();
}

}  // namespace

class TableWriter::Impl {
 public:
  Impl(std::filesystem::path path, std::string table, std::size_t text_memory,
       std::function<void()> between)
      : path_(std::move(path)),
        table_(std::move(table)),
        text_memory_(text_memory),
        between_(std::move(between)),
        spool_(path_) {
    check_table_name(table_);
  }

  void append(const Table& batch) {
    if (columns_.empty()) start(batch);
    bool fits = batch.columns() == columns_.size();
    for (std::size_t c = 0; fits && c < columns_.size(); ++c) fits = columns_[c]->fits(batch, c);
    if (!fits)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "a batch of table '" + table_ + "' has other columns than the batches before");
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      pause();
      columns_[c]->append(batch, c);
    }
    rows_ += batch.rows();
    shrink_dictionaries();
  }
  std::int64_t rows() const noexcept { return rows_; }

  void finish() {
    std::vector<Piece> pieces;
    std::vector<ColumnSchema> schema;
    for (const auto& column : columns_) {
      pause();
      schema.push_back(column->schema());
      column->add_pieces(table_, pieces);
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return dtype_width(a.dtype) > dtype_width(b.dtype);
    });
    std::vector<Entry> entries;
    std::uint64_t at = 0;
    for (const Piece& piece : pieces) {
      entries.push_back({piece.name, piece.dtype, piece.shape, at, at + piece.bytes->size()});
      at = entries.back().end;
    }
    write(entries, pieces, schema_json(rows_, metadata_, schema));
  }

 private:
  void pause() const {
    if (between_) between_();
  }
  void start(const Table& batch) {
    metadata_ = batch.metadata();
    const std::size_t count = std::max<std::size_t>(batch.columns(), 1);
    // Multiples of 8 keep whole values in one piece.
    const std::size_t buffer =
        std::clamp<std::size_t>((std::size_t{16} << 20) / count, 4096, std::size_t{1} << 18) / 8 *
        8;
    check_header_room(table_, batch);
    for (std::size_t c = 0; c < batch.columns(); ++c) {
      pause();
      columns_.push_back(std::make_unique<ColumnSpool>(spool_, buffer, batch, c));
    }
  }
  // The largest dictionaries go first; sorting once keeps tables of many columns linear.
  void shrink_dictionaries() {
    std::size_t total = 0;
    for (const auto& column : columns_) total += column->dictionary_memory();
    if (total <= text_memory_) return;
    std::vector<ColumnSpool*> largest;
    for (const auto& column : columns_) largest.push_back(column.get());
    std::stable_sort(largest.begin(), largest.end(), [](const auto* a, const auto* b) {
      return a->dictionary_memory() > b->dictionary_memory();
    });
    for (std::size_t c = 0; total > text_memory_; ++c) {
      pause();
      total -= largest[c]->dictionary_memory();
      largest[c]->become_text();
    }
  }
  // The digest is known last and stands first, so the header is written twice.
  void write(const std::vector<Entry>& entries, const std::vector<Piece>& pieces,
             std::string schema) {
    std::map<std::string, std::string> metadata;
    metadata[std::string(kSchemaPrefix) + table_] = std::move(schema);
    metadata["omen.digest"] = std::string(64, '0');
    PendingFile file(path_);
    const std::string front = header_bytes(metadata, entries);
    pause();
    file.append(front.data(), front.size());
    Sha256 hash;
    for (const Piece& piece : pieces) {
      pause();
      copy_piece(piece, file, hash);
    }
    metadata["omen.digest"] = hash.finish();
    const std::string final_front = header_bytes(metadata, entries);
    file.overwrite(final_front.data(), final_front.size(), 0);
    pause();  // the header of many columns takes long, and what was given up must not succeed
    file.commit();
  }

  std::filesystem::path path_;
  std::string table_;
  std::size_t text_memory_;
  std::function<void()> between_;
  Spool spool_;
  Metadata metadata_;
  std::vector<std::unique_ptr<ColumnSpool>> columns_;
  std::int64_t rows_ = 0;
};

TableWriter::TableWriter(std::filesystem::path path, std::string table, std::size_t text_memory,
                         std::function<void()> between)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(table), text_memory,
                                   std::move(between))) {}
TableWriter::~TableWriter() = default;

void TableWriter::append(const Table& batch) {
  impl_->append(batch);
}
std::int64_t TableWriter::rows() const noexcept {
  return impl_->rows();
}
void TableWriter::finish() {
  impl_->finish();
}

}  // namespace omen::container
