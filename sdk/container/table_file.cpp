// SPDX-License-Identifier: Apache-2.0
// Tables as tensors of a container: written in their Arrow layout, read in place.
#include <bit>
#include <nlohmann/json.hpp>

#include "layout.hpp"
#include "omen/container.hpp"
#include "omen/utf8.hpp"

namespace omen::container {
namespace {

using Json = nlohmann::ordered_json;

constexpr Type kTypes[] = {Type::kBool,       Type::kInt8,      Type::kUInt8,   Type::kInt16,
                           Type::kUInt16,     Type::kInt32,     Type::kUInt32,  Type::kInt64,
                           Type::kUInt64,     Type::kFloat32,   Type::kFloat64, Type::kUtf8,
                           Type::kDictionary, Type::kFloatList, Type::kIntList};

// ----------------------------------------------------------------------------------------- writing

std::string encode(const Metadata& metadata) {
  std::string pairs;
  for (const auto& [key, value] : metadata) {
    for (const std::string* text : {&key, &value})
      if (find_invalid_utf8(*text) != std::string::npos)
        throw Error(OMEN_INVALID_ARGUMENT, "table metadata '" + key + "' is not UTF-8 text");
    pairs += (pairs.empty() ? "[" : ",[") + json_text(key) + "," + json_text(value) + "]";
  }
  return "[" + pairs + "]";
}

void put_bits(Writer& writer, const std::string& name, const std::vector<bool>& values) {
  const std::vector<std::uint8_t> bits = omen::detail::pack_bits(values);
  writer.put_tensor(name, "U8", {static_cast<std::int64_t>(bits.size())}, bits.data(), bits.size());
}

void put_text(Writer& writer, const std::string& name, const omen::detail::Utf8Buffers& text) {
  if (find_invalid_utf8(text.bytes) != std::string::npos)
    throw Error(OMEN_INVALID_ARGUMENT, "column '" + name + "' holds text that is not UTF-8");
  writer.put_tensor(name + "#offsets", "I32", {static_cast<std::int64_t>(text.offsets.size())},
                    text.offsets.data(), text.offsets.size() * sizeof(std::int32_t));
  writer.put_tensor(name + "#bytes", "U8", {static_cast<std::int64_t>(text.bytes.size())},
                    text.bytes.data(), text.bytes.size());
}

void put_strings(Writer& writer, const std::string& name, const StringColumn& column) {
  omen::detail::Utf8Buffers text;
  for (std::int64_t i = 0; i < column.size(); ++i) text.append(column[i]);
  put_text(writer, name, text);
}

void put_dictionary(Writer& writer, const std::string& name, const StringColumn& column) {
  omen::detail::Utf8Buffers text;
  for (std::int64_t code = 0; code < column.value_count(); ++code) text.append(column.value(code));
  put_text(writer, name, text);
  // The code of a null row may be anything in memory; a file is the same for the same table.
  std::vector<std::int32_t> codes(static_cast<std::size_t>(column.size()));
  for (std::int64_t i = 0; i < column.size(); ++i)
    codes[static_cast<std::size_t>(i)] = column.is_null(i) ? 0 : column.codes()[i];
  writer.put_tensor(name, "I32", {column.size()}, codes.data(),
                    codes.size() * sizeof(std::int32_t));
}

void put_column(Writer& writer, const std::string& name, const Table& rows, std::size_t c) {
  const Type type = rows.type(c);
  if (type == Type::kBool) {
    std::vector<bool> values(static_cast<std::size_t>(rows.rows()));
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      values[static_cast<std::size_t>(i)] = rows.boolean(c, i);
    put_bits(writer, name + "#bits", values);
  } else if (type == Type::kUtf8) {
    put_strings(writer, name, rows.strings(c));
  } else if (type == Type::kDictionary) {
    put_dictionary(writer, name, rows.strings(c));
  } else if (is_list(type)) {
    const void* data = type == Type::kFloatList
                           ? static_cast<const void*>(rows.list<float>(c).data())
                           : rows.list<std::int32_t>(c).data();
    const std::int64_t width = rows.list_size(c);
    writer.put_tensor(name, dtype_of_column(type), {rows.rows(), width}, data,
                      static_cast<std::size_t>(rows.rows() * width) * sizeof(float));
  } else {
    omen::detail::visit_number(type, [&](auto zero) {
      writer.put_tensor(name, dtype_of_column(type), {rows.rows()},
                        rows.column<decltype(zero)>(c).data(),
                        static_cast<std::size_t>(rows.rows()) * sizeof zero);
    });
  }
}

bool put_validity(Writer& writer, const std::string& name, const Table& rows, std::size_t c) {
  std::vector<bool> present(static_cast<std::size_t>(rows.rows()));
  bool any_null = false;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    present[static_cast<std::size_t>(i)] = !rows.is_null(c, i);
    any_null |= rows.is_null(c, i);
  }
  if (any_null) put_bits(writer, name + "#valid", present);
  return any_null;
}

// ----------------------------------------------------------------------------------------- reading

// One column of a table in a file; every tensor it names is checked against the schema before it is
// used.
class ColumnReader {
 public:
  ColumnReader(const Reader& reader, const std::string& table, const Json& schema,
               std::int64_t rows)
      : reader_(reader),
        rows_(rows),
        name_(schema.at("name").get<std::string>()),
        tensor_(tensor_name(table, name_)) {
    const auto type = schema.at("type").get<std::string>();
    for (const Type known : kTypes)
      if (type == type_name(known)) type_ = known;
    if (type != type_name(type_)) bad("has unknown type '" + type + "'");
    if (is_list(type_)) width_ = schema.at("width").get<std::int64_t>();
    if (is_list(type_) && (width_ < 1 || width_ > omen::detail::kMaxListSize))
      bad("has an impossible list width");
    has_nulls_ = schema.value("nulls", false);
  }

  void add_to(TableBuilder& builder, Metadata metadata) {
    std::vector<const void*> buffers;
    std::int64_t values = 0;
    if (type_ == Type::kBool) {
      buffers = {tensor("#bits", "U8", {(rows_ + 7) / 8})};
    } else if (type_ == Type::kUtf8) {
      buffers = text(rows_);
    } else if (type_ == Type::kDictionary) {
      values = entry("#offsets").shape.empty() ? -1 : entry("#offsets").shape[0] - 1;
      buffers = text(values);
      buffers.insert(buffers.begin(), tensor("", "I32", {rows_}));
    } else if (is_list(type_)) {
      buffers = {tensor("", dtype_of_column(type_), {rows_, width_})};
    } else {
      buffers = {tensor("", dtype_of_column(type_), {rows_})};
    }
    builder.add_raw(name_, type_, width_, rows_, buffers, owners_, std::move(metadata), values);
    if (has_nulls_) add_validity(builder);
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(OMEN_INVALID_DATA, "column '" + name_ + "' " + what);
  }

  const Entry& entry(const std::string& part) const {
    const Entry* found = reader_.find(tensor_ + part);
    if (!found) bad("has no tensor '" + tensor_ + part + "'");
    return *found;
  }

  const void* tensor(const std::string& part, std::string_view dtype,
                     const std::vector<std::int64_t>& shape) {
    const Entry& found = entry(part);
    if (found.dtype != dtype || found.shape != shape)
      bad("does not fit its tensor '" + found.name + "': dtype or shape differs from the schema");
    const void* bytes = reader_.bytes(found);
    if (reinterpret_cast<std::uintptr_t>(bytes) % dtype_width(dtype) == 0) {
      owners_.push_back(reader_.owner());
      return bytes;
    }
    const char* first = static_cast<const char*>(bytes);
    auto copy = std::make_shared<const std::vector<char>>(first, first + (found.end - found.begin));
    owners_.push_back(copy);
    return copy->data();
  }

  std::vector<const void*> text(std::int64_t count) {
    const std::vector<std::int64_t>& size = entry("#bytes").shape;
    if (count < 0 || size.size() != 1) bad("has text tensors of an impossible shape");
    const void* bytes = tensor("#bytes", "U8", size);
    const void* offsets = tensor("#offsets", "I32", {count + 1});
    const auto* at = static_cast<const std::int32_t*>(offsets);
    if (at[0] != 0 || at[count] != size[0]) bad("has text offsets that do not span its bytes");
    for (std::int64_t i = 0; i < count; ++i)
      if (at[i + 1] < at[i]) bad("has decreasing text offsets in row " + std::to_string(i));
    check_utf8({static_cast<const char*>(bytes), static_cast<std::size_t>(size[0])}, at, count);
    return {offsets, bytes};
  }

  // Valid as a whole and never cut inside a character means that every value is valid.
  void check_utf8(std::string_view bytes, const std::int32_t* offsets, std::int64_t count) const {
    if (find_invalid_utf8(bytes) != std::string_view::npos) bad("holds text that is not UTF-8");
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(offsets[i]);
      if (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0) == 0x80)
        bad("cuts a character in row " + std::to_string(i));
    }
  }

  void add_validity(TableBuilder& builder) {
    const auto* bits = static_cast<const std::uint8_t*>(tensor("#valid", "U8", {(rows_ + 7) / 8}));
    std::int64_t present = 0;
    for (std::int64_t i = 0; i < rows_ / 8; ++i) present += std::popcount(bits[i]);
    for (std::int64_t i = rows_ / 8 * 8; i < rows_; ++i) present += omen::detail::bit(bits, i);
    builder.valid_shared(bits, rows_ - present, owners_.back());
  }

  const Reader& reader_;
  std::int64_t rows_;
  std::string name_, tensor_;
  Type type_ = Type::kBool;
  std::int64_t width_ = 0;
  bool has_nulls_ = false;
  std::vector<std::shared_ptr<const void>> owners_;
};

Metadata decode(const Json& pairs) {
  Metadata metadata;
  for (const Json& pair : pairs)
    metadata.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  return metadata;
}

Table build(const Reader& reader, const std::string& table, const Json& schema) {
  const auto rows = schema.at("rows").get<std::int64_t>();
  if (rows < 0 || rows > omen::detail::kMaxRows)
    throw Error(OMEN_INVALID_DATA, "the number of rows is impossible");
  TableBuilder builder;
  for (auto& [key, value] : decode(schema.at("metadata"))) builder.metadata(key, value);
  for (const Json& column : schema.at("columns"))
    ColumnReader(reader, table, column, rows).add_to(builder, decode(column.at("metadata")));
  Table built = builder.finish();
  built.validate();
  return built;
}

}  // namespace

const char* dtype_of_column(Type type) {
  static constexpr const char* kDtypes[] = {"U8",  "I8",  "U8",  "I16", "U16", "I32", "U32", "I64",
                                            "U64", "F32", "F64", "U8",  "I32", "F32", "I32"};
  return kDtypes[static_cast<int>(type)];
}

std::string tensor_name(const std::string& table, std::string_view column) {
  std::string name = table + "/";
  for (const char c : column) name.append(c == '#' ? 2 : 1, c);
  return name;
}

void check_table_name(const std::string& table) {
  if (table.empty() || table.find('/') != std::string::npos)
    throw Error(OMEN_INVALID_ARGUMENT, "'" + table + "' is no table name",
                "Use a name without '/'.");
}

std::string schema_json(std::int64_t rows, const Metadata& metadata,
                        const std::vector<ColumnSchema>& columns) {
  std::string list;
  for (const ColumnSchema& column : columns) {
    list += (list.empty() ? "" : ",") + ("{\"name\":" + json_text(column.name)) + ",\"type\":\"" +
            type_name(column.type) + "\"";
    if (is_list(column.type)) list += ",\"width\":" + std::to_string(column.width);
    if (column.nulls) list += ",\"nulls\":true";
    list += ",\"metadata\":" + encode(column.metadata) + "}";
  }
  return "{\"rows\":" + std::to_string(rows) + ",\"metadata\":" + encode(metadata) +
         ",\"columns\":[" + list + "]}";
}

void put_table(Writer& writer, const std::string& table, const Table& rows) {
  check_table_name(table);
  std::vector<ColumnSchema> columns;
  for (std::size_t c = 0; c < rows.columns(); ++c) {
    const std::string name = tensor_name(table, rows.name(c));
    put_column(writer, name, rows, c);
    const bool nulls = put_validity(writer, name, rows, c);
    columns.push_back(
        {std::string(rows.name(c)), rows.type(c), rows.list_size(c), nulls, rows.metadata(c)});
  }
  writer.put_meta(std::string(kSchemaPrefix) + table,
                  schema_json(rows.rows(), rows.metadata(), columns));
}

std::vector<std::string> table_names(const Reader& reader) {
  std::vector<std::string> names;
  for (const auto& [key, value] : reader.metadata())
    if (std::string_view(key).substr(0, kSchemaPrefix.size()) == kSchemaPrefix)
      names.push_back(key.substr(kSchemaPrefix.size()));
  return names;
}

Table get_table(const Reader& reader, const std::string& table) {
  const auto schema = reader.metadata().find(std::string(kSchemaPrefix) + table);
  if (schema == reader.metadata().end()) {
    std::string have;
    for (const std::string& name : table_names(reader)) have += (have.empty() ? "" : ", ") + name;
    throw Error(OMEN_NOT_FOUND, "'" + reader.name() + "' has no table '" + table + "'",
                have.empty() ? "The file holds no tables." : "The file has: " + have + ".");
  }
  const auto fail = [&](const std::string& what) {
    throw Error(OMEN_INVALID_DATA,
                "table '" + table + "' in '" + reader.name() + "' is damaged: " + what,
                "Make the file again.");
  };
  Table built;
  try {
    built = build(reader, table, Json::parse(schema->second));
  } catch (const nlohmann::json::exception&) {
    fail("its schema is not what a writer of tables leaves");
  } catch (const Error& error) {
    fail(error.what());
  }
  return built;
}

}  // namespace omen::container
