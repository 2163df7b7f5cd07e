// SPDX-License-Identifier: Apache-2.0
// Definitions for table.hpp; include that header, not this one.
#ifndef OMEN_TABLE_IMPL_HPP
#define OMEN_TABLE_IMPL_HPP

#include "omen/table.hpp"

namespace omen {
namespace detail {

constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
constexpr std::int64_t kMaxListSize = std::int64_t{1} << 24;

[[noreturn]] inline void bad_column(const char* name, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "column '" + std::string(name ? name : "") + "' " + what);
}

// A node without children and dictionary; copies of a tree walk both, so neither may be garbage.
template <class Node>
bool is_leaf(const Node& node) noexcept {
  return node.n_children == 0 && !node.dictionary;
}

// The N of "+w:N"; 0 where it is no length that we accept.
inline std::int64_t parse_list_size(std::string_view digits) noexcept {
  std::int64_t size = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || size > kMaxListSize) return 0;
    size = size * 10 + (c - '0');
  }
  return size <= kMaxListSize ? size : 0;
}

inline Parsed parse_type(const ArrowSchema& schema) {
  const std::string_view format = schema.format ? schema.format : "";
  if (schema.dictionary) {
    const char* values = schema.dictionary->format;
    if (format == "i" && values && std::strcmp(values, "u") == 0 && schema.n_children == 0 &&
        is_leaf(*schema.dictionary))
      return {Type::kDictionary, 0};
    bad_column(schema.name, "is a dictionary that is not int32 over utf8");
  }
  constexpr std::string_view kPlainFormats = "bcCsSiIlLfgu";  // in the order of Type
  if (const auto at = kPlainFormats.find(format);
      format.size() == 1 && schema.n_children == 0 && at != kPlainFormats.npos)
    return {static_cast<Type>(at), 0};
  if (format.substr(0, 3) == "+w:" && schema.n_children == 1 && schema.children &&
      schema.children[0] && is_leaf(*schema.children[0])) {
    const std::int64_t size = parse_list_size(format.substr(3));
    const std::string_view inner = schema.children[0]->format ? schema.children[0]->format : "";
    if (size >= 1 && (inner == "f" || inner == "i"))
      return {inner == "f" ? Type::kFloatList : Type::kIntList, size};
  }
  bad_column(schema.name,
             "has Arrow format '" + std::string(format) + "', outside the accepted subset");
}

inline std::string encode_metadata(const Metadata& metadata) {
  if (metadata.empty()) return {};
  std::string out;
  const auto put = [&out](std::size_t n) {
    const auto value = static_cast<std::int32_t>(n);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(metadata.size());
  for (const auto& [key, value] : metadata) {
    put(key.size());
    out += key;
    put(value.size());
    out += value;
  }
  return out;
}

inline Metadata decode_metadata(const char* encoded) {
  Metadata metadata;
  if (!encoded) return metadata;
  const auto take_count = [&encoded] {
    std::int32_t value;
    std::memcpy(&value, encoded, sizeof value);
    encoded += sizeof value;
    if (value < 0) throw Error(OMEN_INVALID_DATA, "schema metadata has a negative length");
    return static_cast<std::size_t>(value);
  };
  const auto take_text = [&] {
    const std::size_t size = take_count();
    std::string text(encoded, size);
    encoded += size;
    return text;
  };
  for (std::size_t left = take_count(); left > 0; --left) {
    std::string key = take_text();
    std::string value = take_text();
    metadata.emplace_back(std::move(key), std::move(value));
  }
  return metadata;
}

inline void check_buffers(const char* name, const ArrowArray& a, std::int64_t buffers,
                          std::size_t width, std::int64_t rows) {
  if (a.offset < 0 || a.offset > kMaxRows || a.length < rows || a.length > kMaxRows)
    bad_column(name, "is shorter than its table or has an impossible offset");
  if (a.n_buffers != buffers || !a.buffers)
    bad_column(name, "has " + std::to_string(a.n_buffers) + " buffers instead of " +
                         std::to_string(buffers));
  if (a.null_count > 0 && !a.buffers[0])
    bad_column(name, "counts nulls but has no validity bitmap");
  if (buffers == 1) return;
  if ((a.length > 0 || a.offset > 0) && !a.buffers[1]) bad_column(name, "has no data buffer");
  if (width > 1 && reinterpret_cast<std::uintptr_t>(a.buffers[1]) % width != 0)
    bad_column(name,
               "has a data buffer that is not aligned to " + std::to_string(width) + " bytes");
}

// A node below a column: the items of lists or the values of a dictionary, which are never null.
inline void check_inner(const char* name, const ArrowArray& a, std::int64_t buffers,
                        std::int64_t rows) {
  check_buffers(name, a, buffers, 4, rows);
  if (!is_leaf(a)) bad_column(name, "is nested deeper than the accepted subset");
  if (a.null_count != 0 && a.buffers[0])
    bad_column(name, "has nulls inside its lists or dictionary");
}

inline void check_child(const ArrowSchema& schema, const ArrowArray& a, Parsed parsed,
                        std::int64_t rows) {
  const bool list = is_list(parsed.type), dictionary = parsed.type == Type::kDictionary;
  const std::int64_t buffers = parsed.type == Type::kUtf8 ? 3 : list ? 1 : 2;
  const std::size_t width = parsed.type == Type::kUtf8 ? 4 : width_of(parsed.type);
  check_buffers(schema.name, a, buffers, width, rows);
  if (dictionary != (a.dictionary != nullptr))
    bad_column(schema.name, dictionary ? "has no dictionary" : "has a dictionary its schema lacks");
  if (a.n_children != (list ? 1 : 0) || (list && (!a.children || !a.children[0])))
    bad_column(schema.name, list ? "has no list values" : "has children its schema lacks");
  if (dictionary) check_inner(schema.name, *a.dictionary, 3, 0);
  if (!list) return;
  if (a.offset + rows > kMaxRows / parsed.list_size)
    bad_column(schema.name, "has more list values than fit into memory");
  check_inner(schema.name, *a.children[0], 2, (a.offset + rows) * parsed.list_size);
}

inline void check_array(const ArrowSchema& schema, const ArrowArray& array,
                        const std::vector<Parsed>& types) {
  if (!array.release) throw Error(OMEN_INVALID_DATA, "table was released or never filled");
  if (array.n_children != static_cast<std::int64_t>(types.size()) ||
      (array.n_children > 0 && !array.children))
    throw Error(OMEN_INVALID_DATA, "table has " + std::to_string(array.n_children) +
                                       " columns but its schema has " +
                                       std::to_string(types.size()));
  if (array.offset < 0 || array.length < 0 || array.offset > kMaxRows || array.length > kMaxRows)
    throw Error(OMEN_INVALID_DATA, "table has an impossible length or offset");
  const bool bitmap = array.n_buffers > 0 && array.buffers && array.buffers[0];
  if (array.null_count > 0 || (array.null_count < 0 && bitmap))
    throw Error(OMEN_INVALID_DATA, "table has null rows");
  if (array.dictionary) throw Error(OMEN_INVALID_DATA, "table has a dictionary of its own");
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!array.children[i]) bad_column(schema.children[i]->name, "is missing");
    check_child(*schema.children[i], *array.children[i], types[i], array.offset + array.length);
  }
}

inline void parse_schema(OwnedSchema& owned) {
  const ArrowSchema& s = owned.schema;
  if (!s.release) throw Error(OMEN_INVALID_DATA, "schema was released or never filled");
  if (!s.format || std::strcmp(s.format, "+s") != 0)
    throw Error(OMEN_INVALID_DATA,
                "stream is not a table: its top-level Arrow format is not a struct");
  if (s.n_children < 0 || s.n_children > 1 << 20 || (s.n_children > 0 && !s.children) ||
      s.dictionary)
    throw Error(OMEN_INVALID_DATA, "schema has an impossible number of columns");
  owned.types.reserve(static_cast<std::size_t>(s.n_children));
  for (std::int64_t i = 0; i < s.n_children; ++i) {
    if (!s.children[i] || !s.children[i]->name)
      throw Error(OMEN_INVALID_DATA, "schema has a column without a name");
    owned.types.push_back(parse_type(*s.children[i]));
  }
}

// One allocation holds every node of an exported tree and the links between them; each node can be
// moved out and released on its own.
template <class Node, class Owner>
struct ShareBlock {
  std::atomic<std::int64_t> live{0};
  std::shared_ptr<const Owner> owner;
  Node* free_node = nullptr;  // the unused rest of the memory behind this struct
  Node** free_link = nullptr;

  static void count(const Node& node, std::size_t& nodes, std::size_t& links) {
    links += static_cast<std::size_t>(node.n_children);
    nodes += static_cast<std::size_t>(node.n_children) + (node.dictionary ? 1 : 0);
    for (std::int64_t i = 0; i < node.n_children; ++i) count(*node.children[i], nodes, links);
    if (node.dictionary) count(*node.dictionary, nodes, links);
  }

  static void release(Node* node) {
    for (std::int64_t i = 0; i < node->n_children; ++i)
      if (node->children[i]->release) node->children[i]->release(node->children[i]);
    if (node->dictionary && node->dictionary->release) node->dictionary->release(node->dictionary);
    auto* block = static_cast<ShareBlock*>(node->private_data);
    node->release = nullptr;
    if (block->live.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    block->~ShareBlock();
    ::operator delete(block);
  }

  void copy(const Node& from, Node* to) {
    *to = from;
    to->release = release;
    to->private_data = this;
    live.fetch_add(1, std::memory_order_relaxed);
    if (from.n_children > 0) {
      to->children = free_link;
      free_link += from.n_children;
      for (std::int64_t i = 0; i < from.n_children; ++i) {
        to->children[i] = new (free_node++) Node();
        copy(*from.children[i], to->children[i]);
      }
    }
    if (from.dictionary) {
      to->dictionary = new (free_node++) Node();
      copy(*from.dictionary, to->dictionary);
    }
  }

  static void share(const Node& root, std::shared_ptr<const Owner> owner, Node* out) {
    static_assert(sizeof(ShareBlock) % alignof(Node) == 0 && sizeof(Node) % alignof(Node*) == 0,
                  "the parts follow each other without gaps");
    std::size_t nodes = 0, links = 0;
    count(root, nodes, links);
    void* memory =
        ::operator new(sizeof(ShareBlock) + nodes * sizeof(Node) + links * sizeof(Node*));
    auto* block = new (memory) ShareBlock;
    block->owner = std::move(owner);
    block->free_node = reinterpret_cast<Node*>(block + 1);
    block->free_link = reinterpret_cast<Node**>(block->free_node + nodes);
    block->copy(root, out);
  }
};

template <class Visitor>
decltype(auto) visit_number(Type type, Visitor&& visitor) {
  switch (type) {
    case Type::kInt8:
      return visitor(std::int8_t{});
    case Type::kUInt8:
      return visitor(std::uint8_t{});
    case Type::kInt16:
      return visitor(std::int16_t{});
    case Type::kUInt16:
      return visitor(std::uint16_t{});
    case Type::kInt32:
      return visitor(std::int32_t{});
    case Type::kUInt32:
      return visitor(std::uint32_t{});
    case Type::kInt64:
      return visitor(std::int64_t{});
    case Type::kUInt64:
      return visitor(std::uint64_t{});
    case Type::kFloat32:
      return visitor(float{});
    default:
      return visitor(double{});
  }
}

inline std::vector<std::uint8_t> pack_bits(const std::vector<bool>& values) {
  std::vector<std::uint8_t> bits((values.size() + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1u << (i % 8));
  return bits;
}

// The offsets and bytes of a utf8 column; int32 offsets end at 2 GiB of text.
struct Utf8Buffers {
  std::vector<std::int32_t> offsets{0};
  std::string bytes;
  void append(std::string_view text) {
    if (bytes.size() + text.size() >
        static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw Error(OMEN_UNSUPPORTED, "text column exceeds 2 GiB",
                  "Split the table into several batches.");
    bytes += text;
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
  }
};

}  // namespace detail

// -------------------------------------------------------------------------------------------------------------
// Table

inline Table Table::adopt(std::shared_ptr<const detail::OwnedSchema> schema,
                          std::shared_ptr<const detail::OwnedArray> array) {
  Table table;
  table.offset_ = array->array.offset;
  table.length_ = array->array.length;
  table.schema_ = std::move(schema);
  table.array_ = std::move(array);
  return table;
}

inline Table Table::import(ArrowSchema* schema, ArrowArray* array) {
  auto owned_schema = std::make_shared<detail::OwnedSchema>();
  owned_schema->schema = *schema;
  schema->release = nullptr;
  auto owned_array = std::make_shared<detail::OwnedArray>();
  owned_array->array = *array;
  array->release = nullptr;
  detail::parse_schema(*owned_schema);
  detail::check_array(owned_schema->schema, owned_array->array, owned_schema->types);
  return adopt(std::move(owned_schema), std::move(owned_array));
}

inline std::optional<std::size_t> Table::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < columns(); ++i)
    if (child_schema(i).name == name) return i;
  return std::nullopt;
}

inline std::size_t Table::index(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  std::string have;
  for (std::size_t i = 0; i < columns() && i < 20; ++i)
    have += (i ? ", " : "") + std::string(this->name(i));
  throw Error(OMEN_NOT_FOUND, "no column '" + std::string(name) + "'",
              "The table has: " + have + ".");
}

template <class T>
Column<T> Table::column(std::size_t column) const& {
  expect(column, type(column) == type_of<T>(), type_name(type_of<T>()));
  return {values<T>(column), rows(), validity(column)};
}

inline StringColumn Table::strings(std::size_t column) const& {
  expect(column, is_text(type(column)), "text");
  const ArrowArray& a = child(column);
  StringColumn view;
  view.size_ = rows();
  view.valid_ = validity(column);
  if (type(column) == Type::kDictionary) {
    const ArrowArray& d = *a.dictionary;
    view.codes_ = values<std::int32_t>(column);
    view.offsets_ = static_cast<const std::int32_t*>(d.buffers[1]) + d.offset;
    view.bytes_ = static_cast<const char*>(d.buffers[2]);
    view.values_ = d.length;
  } else {
    view.offsets_ = values<std::int32_t>(column);
    view.bytes_ = static_cast<const char*>(a.buffers[2]);
  }
  return view;
}

template <class T>
ListColumn<T> Table::list(std::size_t column) const& {
  constexpr Type wanted = std::is_same_v<T, float> ? Type::kFloatList : Type::kIntList;
  expect(column, type(column) == wanted, type_name(wanted));
  const ArrowArray& inner = *child(column).children[0];
  const T* data =
      static_cast<const T*>(inner.buffers[1]) + inner.offset + first(column) * list_size(column);
  return {data, rows(), list_size(column)};
}

inline bool Table::boolean(std::size_t column, std::int64_t row) const {
  expect(column, type(column) == Type::kBool, "bool");
  return detail::bit(static_cast<const std::uint8_t*>(child(column).buffers[1]),
                     first(column) + row);
}

inline std::vector<double> Table::numbers(std::size_t column) const {
  expect(column, is_number(type(column)), "a number");
  std::vector<double> out(static_cast<std::size_t>(rows()));
  if (type(column) == Type::kBool) {
    for (std::int64_t i = 0; i < rows(); ++i)
      out[static_cast<std::size_t>(i)] = boolean(column, i) ? 1 : 0;
  } else {
    detail::visit_number(type(column), [&](auto zero) {
      const auto* data = values<decltype(zero)>(column);
      for (std::int64_t i = 0; i < rows(); ++i)
        out[static_cast<std::size_t>(i)] = static_cast<double>(data[i]);
    });
  }
  if (const detail::Validity valid = validity(column); valid.bits)
    for (std::int64_t i = 0; i < rows(); ++i)
      if (!valid(i)) out[static_cast<std::size_t>(i)] = std::nan("");
  return out;
}

inline Table Table::slice(std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0 || first > rows() - count)
    throw Error(OMEN_INVALID_ARGUMENT, "slice [" + std::to_string(first) + ", +" +
                                           std::to_string(count) + ") lies outside a table of " +
                                           std::to_string(rows()) + " rows");
  Table part = *this;
  part.offset_ += first;
  part.length_ = count;
  return part;
}

inline void Table::validate() const {
  const auto check_offsets = [this](std::size_t column, const std::int32_t* offsets,
                                    std::int64_t count, const void* bytes) {
    if (count == 0) return;
    if (offsets[0] < 0) detail::bad_column(child_schema(column).name, "has a negative offset");
    for (std::int64_t i = 0; i < count; ++i)
      if (offsets[i + 1] < offsets[i])
        detail::bad_column(child_schema(column).name, "has decreasing offsets");
    if (offsets[count] > 0 && !bytes)
      detail::bad_column(child_schema(column).name, "has no text buffer");
  };
  for (std::size_t c = 0; c < columns(); ++c) {
    const ArrowArray& a = child(c);
    if (type(c) == Type::kUtf8) check_offsets(c, values<std::int32_t>(c), rows(), a.buffers[2]);
    if (type(c) != Type::kDictionary) continue;
    const ArrowArray& d = *a.dictionary;
    check_offsets(c, static_cast<const std::int32_t*>(d.buffers[1]) + d.offset, d.length,
                  d.buffers[2]);
    const auto* codes = values<std::int32_t>(c);
    const detail::Validity valid = validity(c);
    for (std::int64_t i = 0; i < rows(); ++i)
      if (valid(i) && (codes[i] < 0 || codes[i] >= d.length))
        detail::bad_column(child_schema(c).name,
                           "has code " + std::to_string(codes[i]) + " in row " + std::to_string(i) +
                               " but only " + std::to_string(d.length) + " dictionary values");
  }
}

inline void Table::export_schema(ArrowSchema* out) const {
  if (!schema_) return TableBuilder().finish().export_schema(out);
  detail::ShareBlock<ArrowSchema, detail::OwnedSchema>::share(schema_->schema, schema_, out);
}

inline void Table::export_array(ArrowArray* out) const {
  if (!array_) return (empty() ? TableBuilder().finish() : concat({*this})).export_array(out);
  detail::ShareBlock<ArrowArray, detail::OwnedArray>::share(array_->array, array_, out);
  out->offset = offset_;
  out->length = length_;
}

}  // namespace omen

#include "omen/table_build_impl.hpp"

#endif  // OMEN_TABLE_IMPL_HPP
