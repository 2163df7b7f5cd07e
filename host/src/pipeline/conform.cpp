// SPDX-License-Identifier: Apache-2.0
// Casts the columns of inputs to the schema of a model.
#include "pipeline/conform.hpp"

#include "tables/column_types.hpp"

namespace omen::host {
namespace {

const char* kind_of(Type type) {
  return type == Type::kBool ? "true or false" : "whole numbers";
}

[[noreturn]] void throw_unfit(const Table& table, std::size_t column, std::int64_t row,
                              const std::string& where, Type wanted, const ModelCard& card) {
  const std::string name(table.name(column));
  throw Error(OMEN_INVALID_DATA,
              name + " is " + column_texts(table.slice(row, 1), column)[0] + " in row " +
                  std::to_string(row + 1) + " of " + where + ", but " + card.file +
                  " was trained on " + kind_of(wanted) + " there (" + type_name(wanted) + ")",
              "give such a value, or train a model on rows where " + name + " varies like that");
}

}  // namespace

Tables conform(const Tables& tables, const Model& model) {
  if (model.empty()) return tables;
  Tables result = tables;
  for (const std::string& text : model.card().schema) {
    const std::size_t dot = text.find('.'), colon = text.rfind(':');
    if (dot == text.npos || colon == text.npos || dot > colon) continue;
    const std::optional<Type> wanted = scalar_type(text.substr(colon + 1));
    const auto table = result.find(text.substr(0, dot));
    if (!wanted || table == result.end()) continue;
    const auto column = table->second.find(text.substr(dot + 1, colon - dot - 1));
    if (!column || table->second.type(*column) == *wanted) continue;
    const CastColumn cast = cast_column(table->second, *column, *wanted);
    if (cast.table)
      table->second = with_column(table->second, *cast.table, 0);
    else if (cast.unfit >= 0)
      throw_unfit(table->second, *column, cast.unfit, table->first, *wanted, model.card());
  }
  return result;
}

}  // namespace omen::host
