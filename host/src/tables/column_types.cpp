// SPDX-License-Identifier: Apache-2.0
// Casts columns value by value, and refuses whatever would change one.
#include "tables/column_types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace omen::host {
namespace {

// Of a column that is cast: what fits, where nothing is, and the first value that does not fit.
template <class To>
struct CastValues {
  std::vector<To> values;
  std::vector<bool> present;
  std::int64_t unfit = -1;
};

template <class To, class From>
bool holds(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    // One above the largest value is a power of two, which every floating type holds exactly.
    const double end = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const double least = std::is_signed_v<To> ? -end : 0;
    return std::trunc(value) == value && value >= least && value < end;
  } else {
    return std::in_range<To>(value);
  }
}

template <class To>
CastValues<To> cast_values(const Table& table, std::size_t column) {
  CastValues<To> cast;
  const auto add = [&cast](bool present, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)> && !std::is_floating_point_v<To>)
      present = present && !std::isnan(value);
    if (present && !holds<To>(value) && cast.unfit < 0)
      cast.unfit = static_cast<std::int64_t>(cast.values.size());
    cast.values.push_back(present && cast.unfit < 0 ? static_cast<To>(value) : To{});
    cast.present.push_back(present);
  };
  for (std::int64_t row = 0; row < table.rows() && table.type(column) == Type::kBool; ++row)
    add(!table.is_null(column, row), static_cast<std::int8_t>(table.boolean(column, row)));
  if (table.type(column) == Type::kBool) return cast;
  omen::detail::visit_number(table.type(column), [&](auto zero) {
    const auto values = table.column<decltype(zero)>(column);
    for (std::int64_t row = 0; row < table.rows(); ++row) add(!values.is_null(row), values[row]);
  });
  return cast;
}

bool has_gaps(const std::vector<bool>& present) {
  return std::find(present.begin(), present.end(), false) != present.end();
}

CastColumn cast_to_bool(const Table& table, std::size_t column) {
  const CastValues<std::uint8_t> cast = cast_values<std::uint8_t>(table, column);
  if (cast.unfit >= 0) return {std::nullopt, cast.unfit};
  std::vector<bool> values;
  for (const std::uint8_t value : cast.values) {
    if (value > 1) return {std::nullopt, static_cast<std::int64_t>(values.size())};
    values.push_back(value != 0);
  }
  TableBuilder builder;
  builder.add_bools(std::string(table.name(column)), values, table.metadata(column));
  if (has_gaps(cast.present)) builder.valid(cast.present);
  return {builder.finish(), -1};
}

CastColumn cast_to_text(const Table& table, std::size_t column, Type wanted) {
  std::vector<bool> present;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    present.push_back(!table.is_null(column, row));
  const std::vector<std::string> texts = column_texts(table, column);
  TableBuilder builder;
  const std::string name(table.name(column));
  if (wanted == Type::kUtf8)
    builder.add_strings(name, texts, table.metadata(column));
  else
    builder.add_categories(name, texts, table.metadata(column));
  if (has_gaps(present)) builder.valid(present);
  return {builder.finish(), -1};
}

// A column without a value has no kind that could be wrong.
bool is_blank(const Table& table, std::size_t column) {
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (!table.is_null(column, row)) return false;
  return true;
}

CastColumn blank_column(const Table& table, std::size_t column, Type wanted) {
  const auto rows = static_cast<std::size_t>(table.rows());
  TableBuilder blank;
  blank.add(std::string(table.name(column)), std::vector<double>(rows), table.metadata(column))
      .valid(std::vector<bool>(rows, false));
  return cast_column(blank.finish(), 0, wanted);
}

// The type that holds what both hold; nothing where one is a number and the other is not.
std::optional<Type> common_type(Type a, Type b) {
  if (a == b) return a;
  if (is_text(a) && is_text(b)) return Type::kDictionary;
  if (!is_number(a) || !is_number(b)) return std::nullopt;
  const auto whole = [](Type type) { return type < Type::kFloat32 && type != Type::kUInt64; };
  return whole(a) && whole(b) ? Type::kInt64 : Type::kFloat64;
}

}  // namespace

std::optional<Type> scalar_type(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Type::kDictionary); ++i)
    if (name == type_name(static_cast<Type>(i))) return static_cast<Type>(i);
  return std::nullopt;
}

CastColumn cast_column(const Table& table, std::size_t column, Type wanted) {
  const Type have = table.type(column);
  if (is_list(have) || is_list(wanted)) return {};
  if (is_text(wanted)) return cast_to_text(table, column, wanted);
  if (is_text(have))
    return is_blank(table, column) ? blank_column(table, column, wanted) : CastColumn{};
  if (wanted == Type::kBool) return cast_to_bool(table, column);
  return omen::detail::visit_number(wanted, [&](auto zero) {
    auto cast = cast_values<decltype(zero)>(table, column);
    if (cast.unfit >= 0) return CastColumn{std::nullopt, cast.unfit};
    TableBuilder builder;
    builder.add(std::string(table.name(column)), std::move(cast.values), table.metadata(column));
    if (has_gaps(cast.present)) builder.valid(cast.present);
    return CastColumn{builder.finish(), -1};
  });
}

bool like_columns(const Tables& a, const Tables& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, table] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.columns() != table.columns()) return false;
    for (std::size_t c = 0; c < table.columns(); ++c)
      if (table.name(c) != other->second.name(c) ||
          table.list_size(c) != other->second.list_size(c) ||
          !common_type(table.type(c), other->second.type(c)))
        return false;
  }
  return true;
}

void unify_types(std::vector<Tables>& parts) {
  for (const auto& [name, first] : Tables(parts.at(0)))
    for (std::size_t c = 0; c < first.columns(); ++c) {
      Type wanted = first.type(c);
      for (const Tables& part : parts)
        wanted = common_type(wanted, part.at(name).type(c)).value_or(wanted);
      for (Tables& part : parts)
        if (Table& table = part.at(name); table.type(c) != wanted)
          if (const CastColumn cast = cast_column(table, c, wanted); cast.table)
            table = with_column(table, *cast.table, 0);
    }
}

}  // namespace omen::host
