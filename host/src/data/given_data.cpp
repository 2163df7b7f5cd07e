// SPDX-License-Identifier: Apache-2.0
// Reads data wherever it lies, and keeps what was measured apart from what is known before.
#include "data/given_data.hpp"

#include <algorithm>

#include "components/registry.hpp"
#include "components/withheld.hpp"
#include "omen/join.hpp"
#include "omen/tables.h"
#include "pipeline/pipeline.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using Names = std::vector<std::string>;

bool is_dataset_directory(const std::string& word) {
  std::error_code error;
  return fs::is_directory(word, error) && fs::is_regular_file(fs::path(word) / "dataset.json");
}

// A word that is nothing here, and no path, is the name of a dataset.
bool is_dataset_name(const std::string& word) {
  std::error_code error;
  return word != "-" && word.find('/') == std::string::npos && !is_table_file(word) &&
         !fs::exists(word, error);
}

// The metadata of a column with the unit that the dataset gives it; its own unit stays.
Table with_unit(const Table& table, std::size_t column, const std::string& unit) {
  Metadata metadata = table.metadata(column);
  metadata.emplace_back(OMEN_META_UNIT, unit);
  return with_metadata(table, column, metadata);
}

void add_units(const DatasetInfo& info, Tables& tables) {
  for (const auto& [name, note] : info.columns) {
    const std::size_t dot = name.find('.');
    const bool is_scoped = dot != name.npos && tables.count(name.substr(0, dot));
    Table& table = tables.at(is_scoped ? name.substr(0, dot) : OMEN_TABLE_WORKLOADS);
    const auto column = table.find(is_scoped ? name.substr(dot + 1) : name);
    if (column && !note.unit.empty() && table.metadata(*column, OMEN_META_UNIT).empty())
      table = with_unit(table, *column, note.unit);
  }
}

GivenData read_from_dataset(const std::string& word, bool is_directory) {
  const DatasetInfo info = is_directory ? read_dataset_info(word) : find_dataset(word);
  GivenData given{word, load_dataset(info), info.targets, info.group};
  for (TargetSpec& target : given.measured)
    if (target.unit.empty()) target.unit = info.unit(target.name);
  add_units(info, given.tables);
  return given;
}

Names names_without_keys(const Table& table) {
  Names names;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.name(c) != OMEN_COLUMN_WORKLOAD_ID && table.name(c) != OMEN_COLUMN_GROUP)
      names.emplace_back(table.name(c));
  return names;
}

[[noreturn]] void throw_no_target(const GivenData& given, const std::string& name,
                                  const Names& have) {
  const Names near = near_names(name, have);
  throw Error(OMEN_INVALID_ARGUMENT, given.word + " has no column '" + name + "'",
              near.empty() ? "its columns are " + join(have) : "did you mean '" + near[0] + "'?");
}

// Unit and direction of the dataset where the command line leaves them open.
void complete_target(TargetSpec& target, const GivenData& given) {
  for (const TargetSpec& known : given.measured)
    if (known.name == target.name && target.unit.empty()) {
      target.unit = known.unit;
      target.direction = known.direction;
    }
}

// Where `targets` is a table already: keeps the columns of these names, or all without any.
bool select_targets(GivenData& given, Names names) {
  const auto targets = given.tables.find(OMEN_TABLE_TARGETS);
  const Table& workloads = given.tables.at(OMEN_TABLE_WORKLOADS);
  if (targets == given.tables.end() ||
      std::any_of(names.begin(), names.end(), [&](auto& name) { return workloads.has(name); }))
    return false;
  if (names.empty()) return true;
  for (const std::string& name : names)
    if (!targets->second.has(name))
      throw_no_target(given, name, names_without_keys(targets->second));
  names.insert(names.begin(), OMEN_COLUMN_WORKLOAD_ID);
  targets->second = select(targets->second, names);
  return true;
}

void drop_measured(GivenData& given) {
  Names measured;
  for (const TargetSpec& target : given.measured) measured.push_back(target.name);
  Table& workloads = given.tables.at(OMEN_TABLE_WORKLOADS);
  workloads = without_columns(workloads, measured);
}

}  // namespace

GivenData read_given_data(const Components& components, const std::string& word,
                          const std::string& frontend, FlagBook& flags) {
  const bool is_directory = frontend.empty() && is_dataset_directory(word);
  if (is_directory || (frontend.empty() && is_dataset_name(word)))
    return read_from_dataset(word, is_directory);
  return {word, read_input(components, word, frontend, flags).tables, {}, {}};
}

std::int64_t take_targets(GivenData& given, std::vector<TargetSpec> asked) {
  Tables& tables = given.tables;
  Names names;
  for (TargetSpec& target : asked) {
    complete_target(target, given);
    names.push_back(target.name);
  }
  std::int64_t dropped = 0;
  if (!select_targets(given, names)) {
    const Table& workloads = tables.at(OMEN_TABLE_WORKLOADS);
    const Names have = names_without_keys(workloads);
    for (const TargetSpec& target : given.measured)
      if (names.empty() && workloads.has(target.name)) asked.push_back(target);
    for (const TargetSpec& target : asked)
      if (!workloads.has(target.name))
        throw_no_target(given, target.name, have);
      else if (const auto row = row_of_slip(workloads, target))
        throw Error(OMEN_INVALID_DATA,
                    "target '" + target.name + "' is in " + target.unit + ", but row " +
                        std::to_string(*row + 1) + " says '" +
                        std::string(workloads.strings(target.name)[*row]) + "'",
                    "mend the row; classes have no unit");
    if (!asked.empty()) dropped = split_targets(tables, asked);
  }
  drop_measured(given);
  return dropped;
}

Tables inputs_of(GivenData given) {
  drop_measured(given);
  if (!given.group.empty() && given.tables.at(OMEN_TABLE_WORKLOADS).has(given.group))
    complete_workloads(given.tables, given.group);
  std::erase_if(given.tables, [](const auto& item) { return is_withheld(item.first); });
  return std::move(given.tables);
}

}  // namespace omen::host
