// SPDX-License-Identifier: Apache-2.0
// Definitions for table.hpp that make tables: builders, streams, rows taken out of others. Include
// that header, not this one.
#ifndef OMEN_TABLE_BUILD_IMPL_HPP
#define OMEN_TABLE_BUILD_IMPL_HPP

#include "omen/table.hpp"

namespace omen {

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

#endif  // OMEN_TABLE_BUILD_IMPL_HPP
