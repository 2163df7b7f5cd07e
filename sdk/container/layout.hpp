// SPDX-License-Identifier: Apache-2.0
// What every writer of containers agrees on: header, order of tensors, names of a table's tensors.
#ifndef OMEN_CONTAINER_LAYOUT_HPP
#define OMEN_CONTAINER_LAYOUT_HPP

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "omen/container.hpp"

namespace omen::container {

// A JSON string. Documents are put together as text: a JSON tree allocates in its destructor, where
// running out of memory would end the process.
std::string json_text(const std::string& text);

// Length and JSON, padded so that the data part starts at a multiple of 8. The entries are in file
// order with their offsets.
std::string header_bytes(const std::map<std::string, std::string>& metadata,
                         const std::vector<Entry>& entries);

inline constexpr std::string_view kSchemaPrefix = "omen.table.";
const char* dtype_of_column(Type type);
std::string tensor_name(const std::string& table, std::string_view column);
void check_table_name(const std::string& table);

// One column of the schema that metadata `omen.table.<table>` holds.
struct ColumnSchema {
  std::string name;
  Type type = Type::kBool;
  std::int64_t width = 0;
  bool nulls = false;
  Metadata metadata;
};
std::string schema_json(std::int64_t rows, const Metadata& metadata,
                        const std::vector<ColumnSchema>& columns);

}  // namespace omen::container

#endif  // OMEN_CONTAINER_LAYOUT_HPP
