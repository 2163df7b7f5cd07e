// SPDX-License-Identifier: Apache-2.0
// Carries out a recipe: raw tables in, a sealed dataset out.
#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <set>
#include <unordered_map>

#include "data/archive.hpp"
#include "data/import.hpp"
#include "data/recipe.hpp"
#include "data/recipe_steps.hpp"
#include "tables/table_io.hpp"
#include "text/number_text.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using Names = std::vector<std::string>;

Table read_source(const Recipe& recipe, const SourceStep& step) {
  ReadOptions options;
  options.text_columns = step.text;
  options.unnamed_column = step.unnamed;
  Table table = read_table(raw_path(recipe, step.file), {}, options);
  for (const auto& [name, value] : step.add) {
    if (table.has(name))
      throw Error(OMEN_INVALID_DATA, step.file + " has a column '" + name + "' already");
    const Names values(static_cast<std::size_t>(table.rows()), value);
    table = with_column(table, category_column(name, values), 0);
  }
  return table;
}

// Columns that every file has; numbers that one file writes as integers and another with a point
// are one column.
std::vector<Table> with_common_columns(std::vector<Table> parts) {
  Names common;
  for (std::size_t c = 0; c < parts[0].columns(); ++c)
    if (std::all_of(parts.begin(), parts.end(),
                    [&](const Table& part) { return part.has(parts[0].name(c)); }))
      common.emplace_back(parts[0].name(c));
  for (Table& part : parts) part = select(part, common);
  for (std::size_t c = 0; c < parts[0].columns(); ++c) {
    const std::string name(parts[0].name(c));
    std::set<Type> types;
    for (const Table& part : parts) types.insert(part.type(part.index(name)));
    if (types.size() == 1) continue;
    for (Table& part : parts) {
      const std::size_t at = part.index(name);
      if (!is_number(part.type(at)))
        throw Error(OMEN_INVALID_DATA, "column '" + name + "' is text in one source only",
                    "List it under 'text' of every source.");
      std::vector<bool> there;
      for (std::int64_t row = 0; row < part.rows(); ++row) there.push_back(!part.is_null(at, row));
      TableBuilder builder;
      builder.add(name, part.numbers(at)).valid(there);
      part = with_column(part, builder.finish(), 0);
    }
  }
  return parts;
}

Table read_sources(const Recipe& recipe, const TableSteps& steps) {
  std::vector<Table> parts;
  for (const SourceStep& step : steps.sources) parts.push_back(read_source(recipe, step));
  return parts.size() == 1 ? parts[0] : concat(with_common_columns(std::move(parts)));
}

Table join_table(Table table, const Recipe& recipe, const JoinStep& step) {
  Names here, there;
  for (const auto& [left, right] : step.on) {
    here.push_back(left);
    there.push_back(right);
  }
  const Table other = read_table(raw_path(recipe, step.file));
  Names taken_columns;
  for (const auto& [name, from] : step.take) taken_columns.push_back(from);
  const Names other_keys = row_keys(other, there, "the join");
  const Names contents = row_keys(other, taken_columns, "the join");
  std::unordered_map<std::string, std::int64_t> row_of;
  for (std::size_t row = 0; row < other_keys.size(); ++row) {
    const auto [at, fresh] = row_of.emplace(other_keys[row], static_cast<std::int64_t>(row));
    if (!fresh && contents[static_cast<std::size_t>(at->second)] != contents[row])
      throw Error(OMEN_INVALID_DATA,
                  step.file + " says two things about one key, in rows " +
                      std::to_string(at->second + 1) + " and " + std::to_string(row + 1),
                  "Join on more columns.");
  }
  std::vector<std::int64_t> rows;
  std::vector<bool> found;
  for (const std::string& key : row_keys(table, here, "the join")) {
    const auto at = row_of.find(key);
    found.push_back(at != row_of.end());
    rows.push_back(at == row_of.end() ? 0 : at->second);
  }
  const Table taken = take(other, rows);
  for (const auto& [name, from] : step.take) {
    const std::size_t column = column_index(taken, from, "the join");
    std::vector<bool> there_now = found;
    for (std::int64_t row = 0; row < taken.rows(); ++row)
      if (taken.is_null(column, row)) there_now[static_cast<std::size_t>(row)] = false;
    TableBuilder builder;
    if (is_text(taken.type(column)))
      builder.add_categories(name, column_texts(taken, column));
    else
      builder.add(name, taken.numbers(column));
    builder.valid(there_now);
    table = with_column(table, builder.finish(), 0);
  }
  return table;
}

std::vector<double> derived_numbers(const Table& table, const DeriveStep& step) {
  const auto numbers = [&](const std::string& name) {
    return table.numbers(column_index(table, name, "column '" + step.column + "'"));
  };
  const Names& factors = step.product.empty() ? Names{step.from} : step.product;
  std::vector<double> values = numbers(factors[0]);
  if (!step.percent_with.empty()) {
    const std::vector<double> rest = numbers(step.percent_with);
    for (std::size_t row = 0; row < values.size(); ++row)
      values[row] = std::round(100 * values[row] / (values[row] + rest[row]));
    return values;
  }
  for (std::size_t f = 1; f < factors.size(); ++f) {
    const std::vector<double> by = numbers(factors[f]);
    for (std::size_t row = 0; row < values.size(); ++row) values[row] *= by[row];
  }
  for (const std::string& name : step.over) {
    const std::vector<double> by = numbers(name);
    for (std::size_t row = 0; row < values.size(); ++row) values[row] /= by[row];
  }
  if (step.times != 0)
    for (double& value : values) value *= step.times;
  return values;
}

Table derive_number(const Table& table, const DeriveStep& step) {
  std::vector<double> values = derived_numbers(table, step);
  std::vector<bool> known;
  for (double& value : values) {
    known.push_back(std::isfinite(value));
    if (!known.back()) value = 0;
  }
  TableBuilder builder;
  builder.add(step.column, std::move(values)).valid(known);
  return builder.finish();
}

std::regex compiled(const std::string& pattern) {
  try {
    return std::regex(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    throw Error(OMEN_INVALID_DATA, "'" + pattern + "' is no regular expression");
  }
}

Table derive_text(const Table& table, const DeriveStep& step) {
  Names values(static_cast<std::size_t>(table.rows()));
  if (!step.texts.empty()) {
    for (const std::string& name : step.texts) {
      const Names part =
          column_texts(table, column_index(table, name, "column '" + step.column + "'"));
      for (std::size_t row = 0; row < values.size(); ++row)
        values[row] += (values[row].empty() ? "" : "-") + part[row];
    }
    return category_column(step.column, values);
  }
  const std::regex pattern = compiled(step.match);
  const Names from =
      column_texts(table, column_index(table, step.from, "column '" + step.column + "'"));
  for (std::size_t row = 0; row < values.size(); ++row) {
    std::smatch groups;
    if (!std::regex_search(from[row], groups, pattern) || groups.size() < 2)
      throw Error(OMEN_INVALID_DATA,
                  "'" + from[row] + "' of column '" + step.from + "' does not match " + step.match);
    values[row] = groups[1];
  }
  return category_column(step.column, values);
}

Table derive_nearest(const Table& table, const DeriveStep& step) {
  const std::vector<double> from =
      table.numbers(column_index(table, step.from, "column '" + step.column + "'"));
  std::vector<double> marks;
  for (const std::string& text : step.nearest) {
    marks.emplace_back();
    if (parse_number(text, marks.back()) != NumberText::kNumber)
      throw Error(OMEN_INVALID_DATA, "'" + text + "' of 'nearest' is no number");
  }
  Names values;
  for (const double value : from) {
    const auto near = std::min_element(marks.begin(), marks.end(), [&](double a, double b) {
      return std::abs(a - value) < std::abs(b - value);
    });
    values.push_back(
        std::isfinite(value) ? step.nearest[static_cast<std::size_t>(near - marks.begin())] : "");
  }
  return category_column(step.column, values);
}

Table derive(const Table& table, const DeriveStep& step) {
  if (!step.nearest.empty()) return with_column(table, derive_nearest(table, step), 0);
  const bool number = step.multiplies() || !step.percent_with.empty();
  return with_column(table, number ? derive_number(table, step) : derive_text(table, step), 0);
}

Table keep_where(const Table& table, const WhereStep& step) {
  const std::size_t column = column_index(table, step.column, "a condition");
  const Names values = column_texts(table, column);
  const auto among = [](const Names& list, const std::string& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string& value = values[static_cast<std::size_t>(row)];
    const bool stays = (step.is.empty() || among(step.is, value)) && !among(step.is_not, value) &&
                       !(step.known && table.is_null(column, row));
    if (stays) rows.push_back(row);
  }
  return take(table, rows);
}

Table keep_columns(const Table& table, const std::vector<ColumnStep>& columns) {
  if (columns.empty()) return table;
  Names from;
  for (const ColumnStep& step : columns) {
    column_index(table, step.from, "column '" + step.name + "'");
    from.push_back(step.from);
  }
  TextPairs renames;
  for (const ColumnStep& step : columns) renames.emplace_back(step.from, step.name);
  return rename_columns(select(table, from), renames);
}

void check_key(const Table& table, const TableSteps& steps) {
  if (steps.key.empty()) return;
  std::unordered_map<std::string, std::size_t> seen;
  const Names keys = row_keys(table, steps.key, "the key");
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const auto [at, fresh] = seen.emplace(keys[row], row);
    if (!fresh)
      throw Error(OMEN_INVALID_DATA, "rows " + std::to_string(at->second + 1) + " and " +
                                         std::to_string(row + 1) + " of table '" + steps.table +
                                         "' have the same key");
  }
}

// "{kernel}-{size}" with the values of every row.
Names filled_in(const Table& table, const std::string& pattern) {
  Names filled(static_cast<std::size_t>(table.rows()));
  std::size_t at = 0;
  while (at < pattern.size()) {
    const std::size_t open = std::min(pattern.find('{', at), pattern.size());
    for (std::string& text : filled) text.append(pattern, at, open - at);
    if (open == pattern.size()) break;
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos)
      throw Error(OMEN_INVALID_DATA, "'" + pattern + "' opens a brace that it does not close");
    const std::string column = pattern.substr(open + 1, close - open - 1);
    const Names values = column_texts(table, column_index(table, column, "'" + pattern + "'"));
    for (std::size_t row = 0; row < filled.size(); ++row) filled[row] += values[row];
    at = close + 1;
  }
  return filled;
}

// Adds graph_id, and what else the front end knows of the graph.
Table join_graphs(Table table, const GraphStep& step, const Table& lowered) {
  const Names known = column_texts(lowered, column_index(lowered, "name", "a graph"));
  std::unordered_map<std::string, std::int64_t> row_of;
  for (std::size_t row = 0; row < known.size(); ++row)
    if (!row_of.emplace(known[row], static_cast<std::int64_t>(row)).second)
      throw Error(OMEN_INVALID_DATA, "two graphs are called '" + known[row] + "'");
  std::vector<Names> candidates;
  for (const std::string& pattern : step.names) candidates.push_back(filled_in(table, pattern));
  std::vector<std::int64_t> rows;
  for (std::size_t row = 0; row < candidates[0].size(); ++row) {
    const auto named = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Names& names) { return row_of.count(names[row]); });
    if (named == candidates.end())
      throw Error(OMEN_INVALID_DATA, "row " + std::to_string(row + 1) + " has no graph called '" +
                                         candidates[0][row] + "'");
    rows.push_back(row_of.at((*named)[row]));
  }
  const Table taken = take(lowered, rows);
  table = with_column(table, taken, column_index(taken, "graph_id", "a graph"));
  for (const auto& [name, from] : step.take) {
    const std::size_t column = column_index(taken, from, "a graph");
    table = with_column(table, rename_columns(select(taken, {from}), {{from, name}}), 0);
    if (is_text(taken.type(column)))
      table = with_column(table, category_column(name, column_texts(taken, column)), 0);
  }
  return table;
}

Table make_table(const Recipe& recipe, const TableSteps& steps, const Tables& lowered) {
  Table table = read_sources(recipe, steps);
  for (const WhereStep& step : steps.only) table = keep_where(table, step);
  for (const JoinStep& step : steps.joins) table = join_table(std::move(table), recipe, step);
  for (const DeviceStep& step : steps.devices) table = join_devices(std::move(table), step);
  for (const DeriveStep& step : steps.derive) table = derive(table, step);
  for (const WhereStep& step : steps.where) table = keep_where(table, step);
  for (const GraphStep& step : steps.graphs) {
    if (!lowered.count("workloads"))
      throw Error(OMEN_INVALID_DATA, "graphs are joined, but no front end makes any",
                  "Name one under 'import'.");
    table = join_graphs(std::move(table), step, lowered.at("workloads"));
  }
  table = keep_columns(table, steps.columns);
  check_key(table, steps);
  if (table.rows() == 0)
    throw Error(OMEN_INVALID_DATA, "table '" + steps.table + "' comes out without rows");
  return table;
}

// One row per (workload, candidate).
void make_candidates(const CandidateSteps& steps, Tables& tables) {
  complete_workloads(tables);
  const Table workloads = tables.at("workloads");
  const auto ids = workloads.column<std::int64_t>("workload_id");
  std::vector<std::int64_t> owner;
  std::vector<std::int32_t> number;
  Names names;
  std::vector<double> cost;
  std::vector<bool> known;
  std::vector<std::vector<double>> values;
  for (const auto& [name, column] : steps.from) {
    values.push_back(
        workloads.numbers(column_index(workloads, column, "candidate '" + name + "'")));
  }
  for (std::int64_t row = 0; row < workloads.rows(); ++row)
    for (std::size_t c = 0; c < steps.from.size(); ++c) {
      owner.push_back(ids[row]);
      number.push_back(static_cast<std::int32_t>(c));
      names.push_back(steps.from[c].first);
      cost.push_back(values[c][static_cast<std::size_t>(row)]);
      known.push_back(std::isfinite(cost.back()));
    }
  TableBuilder candidates, candidate_costs;
  candidates.add("workload_id", owner).add("candidate_id", number);
  candidates.add_categories("name", names).add_categories("candidate", names);
  candidate_costs.add("workload_id", owner).add("candidate_id", number);
  candidate_costs.add(steps.cost, cost).valid(known);
  tables["candidates"] = candidates.finish();
  tables["candidate_costs"] = candidate_costs.finish();
}

Tables lower_files(const Recipe& recipe, const ComponentStep& step) {
  std::vector<std::string> paths;
  for (const std::string& file : step.files) paths.push_back(raw_path(recipe, file).string());
  std::vector<std::unique_ptr<UnpackedArchive>> archives;
  for (const std::string& file : step.archives) {
    archives.push_back(std::make_unique<UnpackedArchive>(raw_path(recipe, file)));
    const std::regex wanted = compiled(step.members);
    for (const fs::path& member : archives.back()->members())
      if (std::regex_search(member.string(), wanted))
        paths.push_back((archives.back()->path() / member).string());
  }
  if (paths.empty() && !step.archives.empty())
    throw Error(OMEN_INVALID_DATA, "no member of the archives matches " + step.members);
  Tables tables = import_with(step.component, paths, step.options);
  for (const auto& [name, columns] : step.keep) {
    if (!tables.count(name))
      throw Error(OMEN_INVALID_DATA, step.component + " gives no table '" + name + "'");
    for (const std::string& column : columns) column_index(tables.at(name), column, "'keep'");
    tables[name] = select(tables.at(name), columns);
  }
  return tables;
}

Tables make_tables(const Recipe& recipe) {
  Tables tables;
  if (!recipe.components.empty()) tables = lower_files(recipe, recipe.components[0]);
  const Tables lowered = tables;
  for (const TableSteps& steps : recipe.tables) {
    try {
      tables[steps.table] = make_table(recipe, steps, lowered);
    } catch (const Error& e) {
      throw Error(e.code(), recipe.file.string() + ": table '" + steps.table + "': " + e.what(),
                  e.hint());
    }
  }
  for (const CandidateSteps& steps : recipe.candidates) {
    if (steps.by.empty())
      make_candidates(steps, tables);
    else
      make_row_candidates(steps, tables);
  }
  return tables;
}

}  // namespace

DatasetInfo make_dataset(const Recipe& recipe, const fs::path& directory) {
  DatasetInfo info;
  info.name = recipe.name;
  info.summary = recipe.summary;
  info.origin = recipe.origin;
  info.license = recipe.license;
  info.group = recipe.group;
  info.columns = recipe.columns;
  info.targets = recipe.targets;
  info.recipe_sha256 = recipe.sha256;
  return write_dataset_directory(std::move(info), make_tables(recipe), directory);
}

}  // namespace omen::host
