// SPDX-License-Identifier: Apache-2.0
// The same values in another type of column: what a column means does not depend on how it was
// stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tables/dataset_tables.hpp"

namespace omen::host {

// By its name in schemas, such as "int64"; nothing for lists and unknown names.
std::optional<Type> scalar_type(std::string_view name);

// A column in another type, or the first row whose value that type cannot hold.
struct CastColumn {
  std::optional<Table> table;  // the column alone, with its name, nulls and metadata
  std::int64_t unfit = -1;     // -1 where the types themselves do not go together
};
// Numbers become numbers, or texts as a file would have them; text becomes the other kind of text,
// and NaN, which is no whole number, a null.
CastColumn cast_column(const Table& table, std::size_t column, Type wanted);

// Whether the tables have the same columns but for types that one cast brings together.
bool like_columns(const Tables& a, const Tables& b);
// Gives every column of these like tables the one type that holds all of its values.
void unify_types(std::vector<Tables>& parts);

}  // namespace omen::host
