// SPDX-License-Identifier: Apache-2.0
// Decides for each column whether it holds numbers.
#include "characterise/job_table.hpp"

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>
#include <omen/join.hpp>

#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

// Whether everything behind the last slash is a version.
std::string without_version(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos || slash + 1 == text.size()) return text;
  const bool version =
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(slash) + 1, text.end(),
                  [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return version ? text.substr(0, slash) : text;
}

bool holds_numbers(const CsvText& csv, std::size_t column) {
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const std::string& cell = csv.text(row, column);
    if (!cell.empty() && cell.find_first_not_of("0123456789.+-eE") != std::string::npos)
      return false;
  }
  return true;
}

}  // namespace

JobTable JobTable::read(const std::string& path) {
  const CsvText csv = CsvText::read(path);
  JobTable made;
  made.rows_ = csv.rows();
  if (made.rows_ == 0) throw Error(OMEN_INVALID_DATA, path + " has no rows");
  made.names_ = csv.header();
  for (std::size_t column = 0; column < csv.header().size(); ++column) {
    std::vector<double> values;
    std::vector<std::string> texts, seen;
    const bool numbers = holds_numbers(csv, column);
    for (std::size_t row = 0; row < csv.rows(); ++row) {
      if (numbers) {
        values.push_back(csv.number(row, column));
        continue;
      }
      texts.push_back(without_version(csv.text(row, column)));
      auto at = std::find(seen.begin(), seen.end(), texts.back());
      if (at == seen.end()) at = seen.insert(seen.end(), texts.back());
      values.push_back(static_cast<double>(at - seen.begin()));
    }
    made.values_.push_back(std::move(values));
    made.texts_.push_back(std::move(texts));
  }
  return made;
}

std::size_t JobTable::index(const std::string& name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at == names_.end())
    throw Error(OMEN_INVALID_ARGUMENT, "the table has no column '" + name + "'",
                "Its columns are " + join(names_) + ".");
  return static_cast<std::size_t>(at - names_.begin());
}

bool JobTable::has(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}
const std::vector<double>& JobTable::column(const std::string& name) const {
  return values_[index(name)];
}
bool JobTable::is_text(const std::string& name) const {
  return !texts_[index(name)].empty();
}
const std::string& JobTable::text(const std::string& column, std::size_t row) const {
  static const std::string none;
  const std::vector<std::string>& texts = texts_[index(column)];
  return texts.empty() ? none : texts[row];
}

std::string JobTable::name(std::size_t row) const {
  std::string text = std::to_string(row + 1);
  for (const char* model : {"Model", "model", "job"})
    if (has(model) && is_text(model)) text = this->text(model, row);
  for (const char* batch : {"BS", "batch", "batch_size", "Batch Size"})
    if (has(batch) && std::isfinite(column(batch)[row]))
      text += " " + std::to_string(std::lround(column(batch)[row]));
  return text;
}

std::vector<std::string> listed_columns(const std::string& text) {
  return split(text, ',');
}

}  // namespace omen::interference
