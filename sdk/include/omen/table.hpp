// SPDX-License-Identifier: Apache-2.0
// Tables over the Arrow C structs: read without copying, build from vectors, stream in batches.
#ifndef OMEN_TABLE_HPP
#define OMEN_TABLE_HPP

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "omen/error.hpp"

namespace omen {

enum class Type : std::uint8_t {
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat32,
  kFloat64,
  kUtf8,
  kDictionary,
  kFloatList,
  kIntList
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return Type::kInt8;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return Type::kUInt8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return Type::kInt16;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return Type::kUInt16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Type::kInt32;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return Type::kUInt32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Type::kInt64;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return Type::kUInt64;
  else if constexpr (std::is_same_v<T, float>)
    return Type::kFloat32;
  else {
    static_assert(std::is_same_v<T, double>, "columns hold int8..64, uint8..64, float or double");
    return Type::kFloat64;
  }
}

inline const char* type_name(Type type) noexcept {
  static constexpr const char* kNames[] = {
      "bool",   "int8",    "uint8",   "int16", "uint16",     "int32",        "uint32",    "int64",
      "uint64", "float32", "float64", "utf8",  "dictionary", "float32 list", "int32 list"};
  return kNames[static_cast<int>(type)];
}

constexpr bool is_number(Type type) noexcept {
  return type <= Type::kFloat64;
}
constexpr bool is_text(Type type) noexcept {
  return type == Type::kUtf8 || type == Type::kDictionary;
}
constexpr bool is_list(Type type) noexcept {
  return type >= Type::kFloatList;
}

namespace detail {

inline const char* format_of(Type type) noexcept {
  static constexpr const char* kFormats[] = {"b", "c", "C", "s", "S", "i", "I",
                                             "l", "L", "f", "g", "u", "i"};
  return kFormats[static_cast<int>(type)];
}

// Bytes of one value in the main buffer (of one list element for lists).
constexpr std::size_t width_of(Type type) noexcept {
  constexpr std::size_t kWidths[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4, 4, 4, 4};
  return kWidths[static_cast<int>(type)];
}

struct Parsed {
  Type type;
  std::int64_t list_size;
};
Parsed parse_type(const ArrowSchema& schema);
std::string encode_metadata(const Metadata& metadata);
Metadata decode_metadata(const char* encoded);
void check_array(const ArrowSchema& schema, const ArrowArray& array,
                 const std::vector<Parsed>& types);

inline bool bit(const std::uint8_t* bits, std::int64_t index) noexcept {
  return bits[index >> 3] >> (index & 7) & 1;
}

struct OwnedSchema {
  ArrowSchema schema{};
  std::vector<Parsed> types;
  OwnedSchema() = default;
  OwnedSchema(const OwnedSchema&) = delete;
  OwnedSchema& operator=(const OwnedSchema&) = delete;
  virtual ~OwnedSchema() {
    if (schema.release) schema.release(&schema);
  }
};

struct OwnedArray {
  ArrowArray array{};
  OwnedArray() = default;
  OwnedArray(const OwnedArray&) = delete;
  OwnedArray& operator=(const OwnedArray&) = delete;
  virtual ~OwnedArray() {
    if (array.release) array.release(&array);
  }
};

// Any column of a table that has a schema but no array yet, such as TableStream::schema().
inline const ArrowArray& no_rows() noexcept {
  struct Empty {
    std::int64_t zeros[2] = {0, 0};
    const void* buffers[3] = {nullptr, zeros, zeros};
    ArrowArray array{};
    ArrowArray* self = &array;
    Empty() {
      array.n_buffers = 3;
      array.buffers = buffers;
      array.children = &self;
      array.dictionary = &array;
    }
  };
  static const Empty empty;
  return empty.array;
}

// Validity of one column: no bitmap means that every value is there.
struct Validity {
  const std::uint8_t* bits = nullptr;
  std::int64_t offset = 0;
  bool operator()(std::int64_t row) const noexcept { return !bits || bit(bits, offset + row); }
};

}  // namespace detail

// A borrowed view of a numeric column; valid while its Table lives.
template <class T>
class Column {
 public:
  Column(const T* data, std::int64_t size, detail::Validity valid)
      : data_(data), size_(size), valid_(valid) {}
  std::int64_t size() const noexcept { return size_; }
  const T* data() const noexcept { return data_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T operator[](std::int64_t row) const noexcept { return data_[row]; }
  bool is_null(std::int64_t row) const noexcept { return !valid_(row); }

 private:
  const T* data_;
  std::int64_t size_;
  detail::Validity valid_;
};

// A borrowed view of a utf8 or dictionary column. A null reads as an empty string.
class StringColumn {
 public:
  std::int64_t size() const noexcept { return size_; }
  bool is_null(std::int64_t row) const noexcept { return !valid_(row); }
  std::string_view operator[](std::int64_t row) const noexcept {
    if (!valid_(row)) return {};
    const std::int64_t i = codes_ ? codes_[row] : row;
    return {bytes_ + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }
  // Dictionary columns only: the code of each row, and the text of each code.
  const std::int32_t* codes() const noexcept { return codes_; }
  std::int64_t value_count() const noexcept { return values_; }
  std::string_view value(std::int64_t code) const noexcept {
    return {bytes_ + offsets_[code], static_cast<std::size_t>(offsets_[code + 1] - offsets_[code])};
  }

 private:
  friend class Table;
  const std::int32_t* codes_ = nullptr;
  const std::int32_t* offsets_ = nullptr;
  const char* bytes_ = nullptr;
  std::int64_t size_ = 0, values_ = 0;
  detail::Validity valid_;
};

// A borrowed view of a fixed-size list column: `width` contiguous values a row.
template <class T>
class ListColumn {
 public:
  ListColumn(const T* data, std::int64_t size, std::int64_t width)
      : data_(data), size_(size), width_(width) {}
  std::int64_t size() const noexcept { return size_; }
  std::int64_t width() const noexcept { return width_; }
  const T* data() const noexcept { return data_; }
  const T* operator[](std::int64_t row) const noexcept { return data_ + row * width_; }

 private:
  const T* data_;
  std::int64_t size_, width_;
};

// An immutable table. Copying shares the memory, which stays alive as long as any table or stream
// made from it.
class Table {
 public:
  Table() = default;  // no columns, no rows

  // Takes both structs over; throws OMEN_INVALID_DATA on anything outside the accepted subset.
  static Table import(ArrowSchema* schema, ArrowArray* array);

  std::int64_t rows() const noexcept { return length_; }
  std::size_t columns() const noexcept { return schema_ ? schema_->types.size() : 0; }
  bool empty() const noexcept { return columns() == 0; }

  std::string_view name(std::size_t column) const { return child_schema(column).name; }
  Type type(std::size_t column) const { return schema_->types[column].type; }
  std::int64_t list_size(std::size_t column) const { return schema_->types[column].list_size; }
  std::optional<std::size_t> find(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept { return find(name).has_value(); }

  Metadata metadata() const {
    return schema_ ? detail::decode_metadata(schema_->schema.metadata) : Metadata{};
  }
  Metadata metadata(std::size_t column) const {
    return detail::decode_metadata(child_schema(column).metadata);
  }
  std::string metadata(std::string_view key) const { return lookup(metadata(), key); }
  std::string metadata(std::size_t column, std::string_view key) const {
    return lookup(metadata(column), key);
  }

  // Typed views; OMEN_NOT_FOUND or OMEN_INVALID_DATA where the column is missing or of another
  // type.
  template <class T>
  Column<T> column(std::string_view name) const& {
    return column<T>(index(name));
  }
  template <class T>
  Column<T> column(std::string_view) const&& = delete;  // the view would dangle
  template <class T>
  Column<T> column(std::size_t column) const&;
  template <class T>
  Column<T> column(std::size_t) const&& = delete;
  StringColumn strings(std::string_view name) const& { return strings(index(name)); }
  StringColumn strings(std::string_view) const&& = delete;
  StringColumn strings(std::size_t column) const&;
  StringColumn strings(std::size_t) const&& = delete;
  template <class T>
  ListColumn<T> list(std::string_view name) const& {
    return list<T>(index(name));
  }
  template <class T>
  ListColumn<T> list(std::string_view) const&& = delete;
  template <class T>
  ListColumn<T> list(std::size_t column) const&;
  template <class T>
  ListColumn<T> list(std::size_t) const&& = delete;

  // Copies: any number or bool column as doubles, nulls as NaN.
  std::vector<double> numbers(std::string_view name) const { return numbers(index(name)); }
  std::vector<double> numbers(std::size_t column) const;
  bool is_null(std::size_t column, std::int64_t row) const { return !validity(column)(row); }
  bool boolean(std::size_t column, std::int64_t row) const;

  // Rows [first, first + count) over the same memory.
  Table slice(std::int64_t first, std::int64_t count) const;

  // Reads every offset and dictionary code; for tables from code that is not trusted.
  void validate() const;

  std::size_t index(std::string_view name) const;
  void export_schema(ArrowSchema* out) const;
  void export_array(ArrowArray* out) const;
  const detail::OwnedSchema* schema_identity() const noexcept { return schema_.get(); }

 private:
  friend class TableBuilder;
  friend class TableStream;
  static Table adopt(std::shared_ptr<const detail::OwnedSchema>,
                     std::shared_ptr<const detail::OwnedArray>);
  static std::string lookup(const Metadata& metadata, std::string_view key) {
    for (const auto& [k, v] : metadata)
      if (k == key) return v;
    return {};
  }
  const ArrowSchema& child_schema(std::size_t column) const {
    return *schema_->schema.children[column];
  }
  const ArrowArray& child(std::size_t column) const {
    return array_ ? *array_->array.children[column] : detail::no_rows();
  }
  std::int64_t first(std::size_t column) const { return offset_ + child(column).offset; }
  detail::Validity validity(std::size_t column) const {
    const ArrowArray& a = child(column);
    return {a.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(a.buffers[0]),
            first(column)};
  }
  template <class T>
  const T* values(std::size_t column) const {
    return static_cast<const T*>(child(column).buffers[1]) + first(column);
  }
  void expect(std::size_t column, bool ok, const char* wanted) const {
    if (!ok)
      throw Error(OMEN_INVALID_DATA, "column '" + std::string(name(column)) + "' is " +
                                         type_name(type(column)) + ", not " + wanted);
  }

  std::shared_ptr<const detail::OwnedSchema> schema_;
  std::shared_ptr<const detail::OwnedArray> array_;
  std::int64_t offset_ = 0, length_ = 0;
};

// Builds a table column by column; every column has the same number of rows.
class TableBuilder {
 public:
  template <class T>
  TableBuilder& add(std::string name, std::vector<T> values, Metadata metadata = {}) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const auto* data = owner->data();
    const auto size = static_cast<std::int64_t>(owner->size());
    return add_shared(std::move(name), data, size, std::move(owner), std::move(metadata));
  }
  // The column reads `data` in place; `owner` keeps it alive.
  template <class T>
  TableBuilder& add_shared(std::string name, const T* data, std::int64_t rows,
                           std::shared_ptr<const void> owner, Metadata metadata = {}) {
    return add_raw(std::move(name), type_of<T>(), 0, rows, {data}, {std::move(owner)},
                   std::move(metadata));
  }
  TableBuilder& add_bools(std::string name, const std::vector<bool>& values,
                          Metadata metadata = {});
  TableBuilder& add_strings(std::string name, const std::vector<std::string>& values,
                            Metadata metadata = {});
  TableBuilder& add_dictionary(std::string name, std::vector<std::int32_t> codes,
                               const std::vector<std::string>& values, Metadata metadata = {});
  // A dictionary column whose codes follow the order of first appearance.
  TableBuilder& add_categories(std::string name, const std::vector<std::string>& values,
                               Metadata metadata = {});
  template <class T>
  TableBuilder& add_list(std::string name, std::int64_t width, std::vector<T> values,
                         Metadata metadata = {}) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>,
                  "lists hold float or int32");
    if (width <= 0 || values.size() % static_cast<std::size_t>(width) != 0)
      throw Error(OMEN_INVALID_ARGUMENT, "list column '" + name +
                                             "' does not divide into rows of " +
                                             std::to_string(width) + " values");
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const auto rows = static_cast<std::int64_t>(owner->size()) / width;
    const auto* data = owner->data();
    return add_raw(std::move(name), std::is_same_v<T, float> ? Type::kFloatList : Type::kIntList,
                   width, rows, {data}, {std::move(owner)}, std::move(metadata));
  }
  // A column of another table over the same memory.
  TableBuilder& add_column(const Table& from, std::size_t column);
  // Marks the nulls of the column that was added last.
  TableBuilder& valid(const std::vector<bool>& present);
  // The same from an Arrow bitmap of `rows` bits that is read in place.
  TableBuilder& valid_shared(const std::uint8_t* bits, std::int64_t nulls,
                             std::shared_ptr<const void> owner);
  // Metadata of the table itself, such as omen.dialect.
  TableBuilder& metadata(std::string key, std::string value) {
    start();
    schema_->metadata.emplace_back(std::move(key), std::move(value));
    return *this;
  }

  Table finish();

  // Any column from its Arrow buffers: {values} for fixed width and lists, {offsets, bytes} for
  // utf8, {codes, offsets, bytes} for a dictionary with `dictionary_size` values.
  TableBuilder& add_raw(std::string name, Type type, std::int64_t list_size, std::int64_t rows,
                        std::vector<const void*> buffers,
                        std::vector<std::shared_ptr<const void>> owners, Metadata metadata,
                        std::int64_t dictionary_size = 0);

 private:
  struct SchemaColumn {
    std::string name, format, metadata;
    ArrowSchema node{}, inner{};
    ArrowSchema* inner_at{};
    std::shared_ptr<const void> source;
  };
  struct Schema final : detail::OwnedSchema {
    std::vector<std::unique_ptr<SchemaColumn>> held;
    std::vector<ArrowSchema*> children;
    Metadata metadata;
    std::string encoded;
  };
  struct ArrayColumn {
    ArrowArray node{}, inner{};
    ArrowArray* inner_at{};
    const void* buffers[3]{};
    const void* inner_buffers[3]{};
    std::vector<std::shared_ptr<const void>> owners;
  };
  struct Array final : detail::OwnedArray {
    std::vector<std::unique_ptr<ArrayColumn>> held;
    std::vector<ArrowArray*> children;
    const void* no_validity = nullptr;
  };
  void start();

  std::shared_ptr<Schema> schema_;  // made by the first column, taken away by finish()
  std::shared_ptr<Array> array_;
  std::int64_t rows_ = -1;
};

// A sequence of tables of one schema, read once.
class TableStream {
 public:
  using Next = std::function<std::optional<Table>()>;

  TableStream(Table table)
      : schema_(table.slice(0, 0)), single_(std::move(table)) {}  // NOLINT: a table is a stream
  // `next` is called until it returns nothing; `schema` is any table of the schema, its rows are
  // not used.
  TableStream(const Table& schema, Next next)
      : schema_(schema.slice(0, 0)), next_(std::move(next)) {}
  // Takes the C stream over.
  static TableStream import(ArrowArrayStream* stream);

  const Table& schema() const noexcept { return schema_; }
  std::optional<Table> next();
  // Everything that is left, in one table; copies only where there are several batches.
  Table read_all();
  void export_to(ArrowArrayStream* out) &&;

 private:
  struct Imported {
    ArrowArrayStream stream{};
    std::shared_ptr<const detail::OwnedSchema> schema;
    ~Imported() {
      if (stream.release) stream.release(&stream);
    }
    std::optional<Table> next();
  };
  struct Exported;
  [[noreturn]] static void raise(ArrowArrayStream& stream, int code);

  Table schema_;
  std::optional<Table> single_;
  std::shared_ptr<Imported> imported_;
  Next next_;
};

// Rows of `table` in the given order, and several tables of one schema behind each other; both
// copy.
Table take(const Table& table, const std::vector<std::int64_t>& rows);
Table concat(const std::vector<Table>& tables);
// Some of the columns over the same memory.
Table select(const Table& table, const std::vector<std::string>& columns);

}  // namespace omen

#include "omen/table_impl.hpp"

#endif  // OMEN_TABLE_HPP
