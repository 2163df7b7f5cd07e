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

// ------------------------------------------------------------------------------------------------------
// TableBuilder

inline TableBuilder& TableBuilder::add_raw(std::string name, Type type, std::int64_t list_size,
                                           std::int64_t rows, std::vector<const void*> buffers,
                                           std::vector<std::shared_ptr<const void>> owners,
                                           Metadata metadata, std::int64_t dictionary_size) {
  if (rows_ >= 0 && rows != rows_)
    throw Error(OMEN_INVALID_ARGUMENT, "column '" + name + "' has " + std::to_string(rows) +
                                           " rows, the others have " + std::to_string(rows_));
  rows_ = rows;
  start();
  auto s = std::make_unique<SchemaColumn>();
  s->name = std::move(name);
  s->format = is_list(type) ? "+w:" + std::to_string(list_size) : detail::format_of(type);
  s->metadata = detail::encode_metadata(metadata);
  s->inner_at = &s->inner;
  s->node.format = s->format.c_str();
  s->node.name = s->name.c_str();
  s->node.metadata = s->metadata.empty() ? nullptr : s->metadata.data();
  s->node.flags = ARROW_FLAG_NULLABLE;
  s->inner.name = is_list(type) ? "item" : "";

  auto a = std::make_unique<ArrayColumn>();
  a->owners = std::move(owners);
  a->inner_at = &a->inner;
  a->node.length = rows;
  a->node.buffers = a->buffers;
  a->inner.buffers = a->inner_buffers;
  if (is_list(type)) {
    s->inner.format = type == Type::kFloatList ? "f" : "i";
    s->node.n_children = a->node.n_children = 1;
    s->node.children = &s->inner_at;
    a->node.children = &a->inner_at;
    a->node.n_buffers = 1;
    a->inner.n_buffers = 2;
    a->inner.length = rows * list_size;
    a->inner_buffers[1] = buffers[0];
  } else if (type == Type::kDictionary) {
    s->inner.format = "u";
    s->node.dictionary = &s->inner;
    a->node.dictionary = &a->inner;
    a->node.n_buffers = 2;
    a->buffers[1] = buffers[0];
    a->inner.n_buffers = 3;
    a->inner.length = dictionary_size;
    a->inner_buffers[1] = buffers[1];
    a->inner_buffers[2] = buffers[2];
  } else {
    a->node.n_buffers = static_cast<std::int64_t>(buffers.size()) + 1;
    for (std::size_t i = 0; i < buffers.size(); ++i) a->buffers[i + 1] = buffers[i];
  }
  schema_->types.push_back({type, list_size});
  schema_->held.push_back(std::move(s));
  array_->held.push_back(std::move(a));
  return *this;
}

inline TableBuilder& TableBuilder::add_bools(std::string name, const std::vector<bool>& values,
                                             Metadata metadata) {
  auto bits = std::make_shared<const std::vector<std::uint8_t>>(detail::pack_bits(values));
  const void* data = bits->data();
  return add_raw(std::move(name), Type::kBool, 0, static_cast<std::int64_t>(values.size()), {data},
                 {std::move(bits)}, std::move(metadata));
}

inline TableBuilder& TableBuilder::add_strings(std::string name,
                                               const std::vector<std::string>& values,
                                               Metadata metadata) {
  auto text = std::make_shared<detail::Utf8Buffers>();
  for (const std::string& value : values) text->append(value);
  const std::vector<const void*> buffers{text->offsets.data(), text->bytes.data()};
  return add_raw(std::move(name), Type::kUtf8, 0, static_cast<std::int64_t>(values.size()), buffers,
                 {std::move(text)}, std::move(metadata));
}

inline TableBuilder& TableBuilder::add_dictionary(std::string name, std::vector<std::int32_t> codes,
                                                  const std::vector<std::string>& values,
                                                  Metadata metadata) {
  auto text = std::make_shared<detail::Utf8Buffers>();
  for (const std::string& value : values) text->append(value);
  auto held = std::make_shared<const std::vector<std::int32_t>>(std::move(codes));
  const std::vector<const void*> buffers{held->data(), text->offsets.data(), text->bytes.data()};
  const auto rows = static_cast<std::int64_t>(held->size());
  return add_raw(std::move(name), Type::kDictionary, 0, rows, buffers,
                 {std::move(held), std::move(text)}, std::move(metadata),
                 static_cast<std::int64_t>(values.size()));
}

inline TableBuilder& TableBuilder::add_categories(std::string name,
                                                  const std::vector<std::string>& values,
                                                  Metadata metadata) {
  std::unordered_map<std::string_view, std::int32_t> code_of;
  std::vector<std::string> distinct;
  std::vector<std::int32_t> codes;
  codes.reserve(values.size());
  for (const std::string& value : values) {
    const auto [at, fresh] = code_of.try_emplace(value, static_cast<std::int32_t>(distinct.size()));
    if (fresh) distinct.push_back(value);
    codes.push_back(at->second);
  }
  return add_dictionary(std::move(name), std::move(codes), distinct, std::move(metadata));
}

inline TableBuilder& TableBuilder::valid(const std::vector<bool>& present) {
  if (static_cast<std::int64_t>(present.size()) != rows_)
    throw Error(OMEN_INVALID_ARGUMENT, "validity does not match the column that was added last");
  std::int64_t nulls = 0;
  for (const bool there : present) nulls += !there;
  auto bits = std::make_shared<const std::vector<std::uint8_t>>(detail::pack_bits(present));
  const std::uint8_t* data = bits->data();
  return valid_shared(data, nulls, std::move(bits));
}

inline TableBuilder& TableBuilder::valid_shared(const std::uint8_t* bits, std::int64_t nulls,
                                                std::shared_ptr<const void> owner) {
  if (!array_ || array_->held.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "validity was given before any column");
  ArrayColumn& column = *array_->held.back();
  if (column.node.buffers != column.buffers)
    throw Error(OMEN_INVALID_ARGUMENT, "a column of another table keeps its own validity");
  column.buffers[0] = bits;
  column.node.null_count = nulls;
  column.owners.push_back(std::move(owner));
  return *this;
}

inline TableBuilder& TableBuilder::add_column(const Table& from, std::size_t index) {
  if (rows_ >= 0 && from.rows() != rows_)
    throw Error(OMEN_INVALID_ARGUMENT, "column '" + std::string(from.name(index)) + "' has " +
                                           std::to_string(from.rows()) + " rows, the others have " +
                                           std::to_string(rows_));
  rows_ = from.rows();
  start();
  auto s = std::make_unique<SchemaColumn>();
  s->node = from.child_schema(index);
  s->source = from.schema_;
  auto a = std::make_unique<ArrayColumn>();
  a->node = from.child(index);
  a->node.offset += from.offset_;
  a->node.length = from.rows();
  if (a->node.null_count != 0) a->node.null_count = -1;
  a->owners.push_back(from.array_);
  schema_->types.push_back(from.schema_->types[index]);
  schema_->held.push_back(std::move(s));
  array_->held.push_back(std::move(a));
  return *this;
}

inline void TableBuilder::start() {
  if (schema_) return;
  constexpr std::size_t kUsualColumns = 8;
  schema_ = std::make_shared<Schema>();
  array_ = std::make_shared<Array>();
  schema_->types.reserve(kUsualColumns);
  schema_->held.reserve(kUsualColumns);
  array_->held.reserve(kUsualColumns);
}

inline Table TableBuilder::finish() {
  start();
  schema_->children.reserve(schema_->held.size());
  array_->children.reserve(array_->held.size());
  const auto forget_schema = [](ArrowSchema* node) { node->release = nullptr; };
  const auto forget_array = [](ArrowArray* node) { node->release = nullptr; };
  for (auto& column : schema_->held) {
    column->node.release = column->inner.release = forget_schema;
    schema_->children.push_back(&column->node);
  }
  for (auto& column : array_->held) {
    column->node.release = column->inner.release = forget_array;
    array_->children.push_back(&column->node);
  }
  schema_->encoded = detail::encode_metadata(schema_->metadata);
  ArrowSchema& s = schema_->schema;
  s.format = "+s";
  s.name = "";
  s.metadata = schema_->encoded.empty() ? nullptr : schema_->encoded.data();
  s.n_children = static_cast<std::int64_t>(schema_->children.size());
  s.children = schema_->children.data();
  s.release = forget_schema;
  ArrowArray& a = array_->array;
  a.length = rows_ < 0 ? 0 : rows_;
  a.n_buffers = 1;
  a.buffers = &array_->no_validity;
  a.n_children = s.n_children;
  a.children = array_->children.data();
  a.release = forget_array;
  rows_ = -1;
  return Table::adopt(std::move(schema_), std::move(array_));
}

// -------------------------------------------------------------------------------------------------------
// TableStream

// Rebuilds the error that a stream of ours wrote: "message\nhint: ...".
inline void TableStream::raise(ArrowArrayStream& stream, int code) {
  const char* text = stream.get_last_error ? stream.get_last_error(&stream) : nullptr;
  std::string message = text ? text : "stream failed without a message";
  std::string hint;
  if (const auto at = message.find("\nhint: "); at != std::string::npos) {
    hint = message.substr(at + 7);
    message.resize(at);
  }
  throw Error(detail::status_of_errno(code), message, hint);
}

inline TableStream TableStream::import(ArrowArrayStream* stream) {
  auto held = std::make_shared<Imported>();
  held->stream = *stream;
  stream->release = nullptr;
  if (!held->stream.release || !held->stream.get_schema || !held->stream.get_next)
    throw Error(OMEN_INVALID_DATA, "stream was not filled");
  auto schema = std::make_shared<detail::OwnedSchema>();
  if (const int code = held->stream.get_schema(&held->stream, &schema->schema))
    raise(held->stream, code);
  detail::parse_schema(*schema);

  Table prototype;
  prototype.schema_ = schema;
  TableStream imported(prototype, nullptr);
  held->schema = std::move(schema);
  imported.imported_ = std::move(held);
  return imported;
}

inline std::optional<Table> TableStream::Imported::next() {
  auto array = std::make_shared<detail::OwnedArray>();
  if (const int code = stream.get_next(&stream, &array->array)) raise(stream, code);
  if (!array->array.release) return std::nullopt;
  detail::check_array(schema->schema, array->array, schema->types);
  return Table::adopt(schema, std::move(array));
}

inline std::optional<Table> TableStream::next() {
  if (single_) {
    std::optional<Table> table = std::move(single_);
    single_.reset();
    return table;
  }
  if (imported_) {
    std::optional<Table> table = imported_->next();
    if (!table) imported_.reset();
    return table;
  }
  if (!next_) return std::nullopt;
  std::optional<Table> table = next_();
  if (!table) next_ = nullptr;
  return table;
}

inline Table TableStream::read_all() {
  std::optional<Table> first = next();
  if (!first) return concat({schema_});
  std::optional<Table> second = next();
  if (!second) return *std::move(first);
  std::vector<Table> all{*std::move(first), *std::move(second)};
  while (std::optional<Table> more = next()) all.push_back(*std::move(more));
  return concat(all);
}

struct TableStream::Exported {
  TableStream stream;
  std::string last_error;

  template <class Body>
  static int run(ArrowArrayStream* c, Body&& body) noexcept {
    auto* self = static_cast<Exported*>(c->private_data);
    ErrorOut error;
    try {
      const omen_status status = detail::guard(error, [&] { body(*self); });
      if (status == OMEN_OK) return 0;
      const omen_error* e = error;
      self->last_error = e->message ? e->message : status_name(status);
      if (e->hint) self->last_error += std::string("\nhint: ") + e->hint;
      return detail::errno_of(status);
    } catch (...) {
      return ENOMEM;
    }
  }
};

inline void TableStream::export_to(ArrowArrayStream* out) && {
  auto* state = new Exported{std::move(*this), {}};
  out->private_data = state;
  out->get_schema = [](ArrowArrayStream* c, ArrowSchema* schema) {
    return Exported::run(c,
                         [schema](Exported& self) { self.stream.schema().export_schema(schema); });
  };
  out->get_next = [](ArrowArrayStream* c, ArrowArray* array) {
    return Exported::run(c, [array](Exported& self) {
      if (const std::optional<Table> table = self.stream.next())
        table->export_array(array);
      else
        *array = ArrowArray{};
    });
  };
  out->get_last_error = [](ArrowArrayStream* c) -> const char* {
    const std::string& text = static_cast<Exported*>(c->private_data)->last_error;
    return text.empty() ? nullptr : text.c_str();
  };
  out->release = [](ArrowArrayStream* c) {
    delete static_cast<Exported*>(c->private_data);
    c->release = nullptr;
  };
}

// -------------------------------------------------------------------------------------------------
// copying operations

namespace detail {

// Collects rows of one column out of tables of one schema.
class ColumnGather {
 public:
  ColumnGather(const Table& like, std::size_t column)
      : column_(column), type_(like.type(column)), list_size_(like.list_size(column)) {}

  void append(const Table& from, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      const bool there = !from.is_null(column_, i);
      present_.push_back(there);
      any_null_ |= !there;
    }
    if (type_ == Type::kBool) {
      for (std::int64_t i = first; i < first + count; ++i)
        bools_.push_back(from.boolean(column_, i));
    } else if (is_text(type_)) {
      append_text(from.strings(column_), first, count);
    } else if (type_ == Type::kFloatList) {
      append_bytes(from.list<float>(column_)[first], count * list_size_);
    } else if (type_ == Type::kIntList) {
      append_bytes(from.list<std::int32_t>(column_)[first], count * list_size_);
    } else {
      visit_number(type_, [&](auto zero) {
        append_bytes(from.column<decltype(zero)>(column_).data() + first, count);
      });
    }
  }

  void add_to(TableBuilder& builder, std::string name, Metadata metadata) && {
    const auto rows = static_cast<std::int64_t>(present_.size());
    if (type_ == Type::kBool) {
      builder.add_bools(std::move(name), bools_, std::move(metadata));
    } else if (type_ == Type::kDictionary) {
      builder.add_dictionary(std::move(name), std::move(codes_), values_, std::move(metadata));
    } else if (type_ == Type::kUtf8) {
      auto text = std::make_shared<Utf8Buffers>(std::move(text_));
      const std::vector<const void*> buffers{text->offsets.data(), text->bytes.data()};
      builder.add_raw(std::move(name), type_, 0, rows, buffers, {std::move(text)},
                      std::move(metadata));
    } else {
      auto held = std::make_shared<const std::vector<char>>(std::move(bytes_));
      const void* data = held->data();
      builder.add_raw(std::move(name), type_, list_size_, rows, {data}, {std::move(held)},
                      std::move(metadata));
    }
    if (any_null_) builder.valid(present_);
  }

 private:
  template <class T>
  void append_bytes(const T* data, std::int64_t count) {
    const char* bytes = reinterpret_cast<const char*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + count * static_cast<std::int64_t>(sizeof(T)));
  }
  void append_text(const StringColumn& text, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      if (type_ == Type::kUtf8) {
        text_.append(text[i]);
      } else if (text.is_null(i)) {
        codes_.push_back(0);
      } else {
        const auto [at, fresh] =
            code_of_.try_emplace(std::string(text[i]), static_cast<std::int32_t>(values_.size()));
        if (fresh) values_.push_back(at->first);
        codes_.push_back(at->second);
      }
    }
  }

  std::size_t column_;
  Type type_;
  std::int64_t list_size_;
  std::vector<bool> present_, bools_;
  bool any_null_ = false;
  std::vector<char> bytes_;
  Utf8Buffers text_;
  std::vector<std::int32_t> codes_;
  std::vector<std::string> values_;
  std::unordered_map<std::string, std::int32_t> code_of_;
};

template <class Append>
Table gather(const Table& like, Append&& append) {
  TableBuilder builder;
  for (auto& [key, value] : like.metadata()) builder.metadata(key, value);
  for (std::size_t c = 0; c < like.columns(); ++c) {
    ColumnGather column(like, c);
    append(column);
    std::move(column).add_to(builder, std::string(like.name(c)), like.metadata(c));
  }
  return builder.finish();
}

}  // namespace detail

inline Table take(const Table& table, const std::vector<std::int64_t>& rows) {
  return detail::gather(table, [&](detail::ColumnGather& column) {
    for (const std::int64_t row : rows) column.append(table, row, 1);
  });
}

inline Table concat(const std::vector<Table>& tables) {
  if (tables.empty()) return {};
  for (const Table& table : tables) {
    bool same = table.columns() == tables[0].columns();
    for (std::size_t c = 0; same && c < table.columns(); ++c)
      same = table.name(c) == tables[0].name(c) && table.type(c) == tables[0].type(c) &&
             table.list_size(c) == tables[0].list_size(c);
    if (!same) throw Error(OMEN_INVALID_DATA, "batches of one table differ in their columns");
  }
  return detail::gather(tables[0], [&](detail::ColumnGather& column) {
    for (const Table& table : tables)
      if (table.rows() > 0) column.append(table, 0, table.rows());
  });
}

inline Table select(const Table& table, const std::vector<std::string>& columns) {
  TableBuilder builder;
  for (auto& [key, value] : table.metadata()) builder.metadata(key, value);
  for (const std::string& name : columns) builder.add_column(table, table.index(name));
  return builder.finish();
}

}  // namespace omen

#endif  // OMEN_TABLE_IMPL_HPP
