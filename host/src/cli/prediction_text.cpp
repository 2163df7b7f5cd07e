// SPDX-License-Identifier: Apache-2.0
// What predictions say beside their values: bounds, chances, and how they came about.
#include "cli/prediction_text.hpp"

#include <cstdio>
#include <map>

#include "components/named_errors.hpp"
#include "omen/table.hpp"
#include "omen/tables.h"
#include "tables/row_status.hpp"
#include "text/render.hpp"

namespace omen::host::cli {

std::string interval_text(const Table& rows, const std::string& target, std::int64_t row) {
  const auto lo = rows.find(target + ".lo"), hi = rows.find(target + ".hi");
  if (!lo || !hi || rows.is_null(*lo, row)) return {};
  return "[" + cell_text(rows, *lo, row) + ", " + cell_text(rows, *hi, row) + "]";
}

bool has_probabilities(const Table& rows, const std::string& target) {
  for (std::size_t column = 0; column < rows.columns(); ++column)
    if (rows.name(column).starts_with(target + ".p.")) return true;
  return false;
}

std::string probability_text(const Table& rows, const std::string& target, std::int64_t row) {
  const std::size_t column = rows.index(target);
  if (!is_text(rows.type(column)) || rows.is_null(column, row)) return {};
  const auto p = rows.find(target + ".p." + std::string(rows.strings(column)[row]));
  if (!p || rows.is_null(*p, row)) return {};
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * rows.slice(row, 1).numbers(*p)[0]);
  return text;
}

std::string method_of(const Table& rows, const std::string& target) {
  return rows.metadata(rows.index(target), OMEN_META_METHOD);
}

std::string method_text(const Table& rows, const std::string& target) {
  std::string method = method_of(rows, target);
  if (const std::size_t colon = method.find(':'); colon != method.npos)
    method.replace(colon, 1, " by ");
  return method.empty() ? "" : ", " + method;
}

std::vector<Error> faults_of_rows(const Table& rows, const std::string& predictor) {
  const StringColumn status = rows.strings(OMEN_COLUMN_STATUS);
  std::map<std::string, std::int64_t> counts;
  for (std::int64_t row = 0; row < status.size(); ++row)
    if (from_word<RowFault>(status[row])) ++counts[std::string(status[row])];
  std::vector<Error> faults;
  for (const auto& [fault, count] : counts)
    faults.emplace_back(OMEN_INTERNAL,
                        "plugin misbehaving: " + predictor + " calls " + std::to_string(count) +
                            (count == 1 ? " row" : " rows") + " an answer: " + fault,
                        verify_hint(predictor));
  return faults;
}

}  // namespace omen::host::cli
