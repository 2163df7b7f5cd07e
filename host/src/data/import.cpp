// SPDX-License-Identifier: Apache-2.0
// Imports tables in one pass, and artefacts through front ends.
#include "data/import.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include "components/withheld.hpp"
#include "data/key_check.hpp"
#include "data/staging.hpp"
#include "omen/table_writer.hpp"
#include "omen/tables.h"
#include "pipeline/pipeline.hpp"
#include "tables/table_io.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using Names = std::vector<std::string>;
constexpr const char* kLineColumn = "omen.line";
constexpr const char* kFileName = "workloads.omt";

Names column_names_of(const Table& table) {
  Names names;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.name(c) != kLineColumn) names.emplace_back(table.name(c));
  return names;
}

[[noreturn]] void no_imported_column(const std::string& what, const std::string& name,
                                     const Names& have) {
  std::string list;
  for (const std::string& column : have) list += (list.empty() ? "" : ", ") + column;
  const auto near = near_names(name, have);
  throw Error(OMEN_INVALID_DATA, what + " '" + name + "' is no column of the table",
              near.empty() ? "The columns are " + list + "." : "Did you mean '" + near[0] + "'?");
}

void require(const std::string& what, const std::string& name, const Names& have) {
  if (std::find(have.begin(), have.end(), name) == have.end()) no_imported_column(what, name, have);
}

// Checks and keeps the rows of every batch.
class Importer {
 public:
  Importer(const ImportPlan& plan, const fs::path& directory, const ImportHooks& hooks)
      : plan_(plan),
        hooks_(hooks),
        keys_(directory),
        writer_(directory / kFileName, "workloads", container::TableWriter::kTextMemory,
                [this] { stop_if_cancelled(); }) {}

  void read(const std::string& file) {
    file_ = file == "-" ? "standard input" : file;
    files_.push_back(file_);
    std::ifstream in(file == "-" ? "/dev/stdin" : file, std::ios::binary);
    if (!in || (file != "-" && fs::is_directory(file)))
      throw Error(OMEN_IO, "cannot open '" + file_ + "': " + std::strerror(in ? EISDIR : errno),
                  "Check the path and its permissions.");
    try {
      TableStream rows = open(in, format_of(file));
      while (const std::optional<Table> batch = rows.next()) add(*batch);
    } catch (const ColumnTypeError& e) {
      // The reader cannot know how a user says what a column is.
      throw Error(e.code(), e.what(),
                  "Correct the value, or say what the column is with --number or --text.");
    }
  }

  std::int64_t finish() {
    if (const auto twice = keys_.find_duplicate()) fail_duplicate(*twice);
    if (writer_.rows() == 0) throw Error(OMEN_INVALID_DATA, file_ + " holds no rows");
    writer_.finish();
    return writer_.rows();
  }

 private:
  std::string format_of(const std::string& file) const {
    if (!plan_.format.empty()) return plan_.format;
    const std::string suffix = fs::path(file).extension();
    if (file == "-" || suffix == ".csv") return "csv";
    if (suffix == ".tsv") return "tsv";
    if (suffix == ".jsonl" || suffix == ".ndjson") return "jsonl";
    throw Error(OMEN_INVALID_ARGUMENT, "'" + file + "' does not say by its suffix what it holds",
                "Say it with --format csv, tsv or jsonl; other files need --with COMPONENT.");
  }
  // The reader knows columns by the names in the file.
  std::string name_in_file(const std::string& name) const {
    for (const auto& [from, to] : plan_.renames)
      if (to == name) return from;
    return name;
  }

  TableStream open(std::istream& in, const std::string& format) {
    ReadOptions options;
    options.batch_bytes = std::size_t{8} << 20;
    options.line_column = kLineColumn;
    options.delimiter = format == "tsv" ? '\t' : ',';
    for (const std::string& name : plan_.text) options.text_columns.push_back(name_in_file(name));
    for (const std::string& name : plan_.numbers)
      options.number_columns.push_back(name_in_file(name));
    TableStream rows =
        format == "jsonl" ? stream_json_lines(in, file_, options) : stream_csv(in, file_, options);
    check_schema(rows.schema());
    return rows;
  }

  void check_schema(const Table& schema) {
    const Names in_file = column_names_of(schema);
    for (const auto& [from, to] : plan_.renames) require("--rename", from, in_file);
    const Names names = column_names_of(rename_columns(schema, plan_.renames));
    stop_if_cancelled();
    if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
      throw Error(OMEN_INVALID_DATA, "renaming gives two columns the same name");
    if (first_names_.empty()) {
      first_names_ = names;
      for (const TargetSpec& target : plan_.info.targets) require("target", target.name, names);
      for (const std::string& key : plan_.key) require("key", key, names);
      for (const auto& [column, note] : plan_.info.columns) require("unit of", column, names);
      if (!plan_.info.group.empty()) require("group", plan_.info.group, names);
    } else if (names != first_names_) {
      throw Error(OMEN_INVALID_DATA, file_ + " has other columns than the files before it",
                  "Import such files as separate datasets.");
    }
  }

  void add(const Table& batch) {
    stop_if_cancelled();
    const Table rows = rename_columns(batch, plan_.renames);
    const auto lines = rows.column<std::int64_t>(kLineColumn);
    for (const TargetSpec& target : plan_.info.targets) check_target(rows, target, lines);
    check_ids(rows, lines);
    add_keys(rows, lines);
    writer_.append(without_columns(rows, {kLineColumn}));
    if (hooks_.progress) hooks_.progress(writer_.rows());
  }

  void stop_if_cancelled() const {
    if (hooks_.is_cancelled && hooks_.is_cancelled())
      throw Error(OMEN_CANCELLED, "import was cancelled");
  }
  [[noreturn]] void fail(std::int64_t line, const std::string& what,
                         const std::string& hint) const {
    throw Error(OMEN_INVALID_DATA, file_ + ":" + std::to_string(line) + ": " + what, hint);
  }
  void check_target(const Table& rows, const TargetSpec& target,
                    const Column<std::int64_t>& lines) const {
    const std::string& name = target.name;
    if (const auto slip = row_of_slip(rows, target))
      fail(lines[*slip],
           "'" + std::string(rows.strings(name)[*slip]) + "' is not a number, and target '" + name +
               "' is in " + target.unit,
           "Correct the value or leave the field empty; classes have no unit.");
    const std::size_t column = rows.index(name);
    if (rows.type(column) != Type::kFloat64) return;
    const auto values = rows.column<double>(column);
    for (std::int64_t row = 0; row < rows.rows(); ++row)
      if (!values.is_null(row) && !std::isfinite(values[row]))
        fail(lines[row],
             "target '" + name + "' is " + (std::isnan(values[row]) ? "NaN" : "infinite"),
             "Leave the field empty where nothing was measured.");
  }
  void check_ids(const Table& rows, const Column<std::int64_t>& lines) {
    const auto column = rows.find("workload_id");
    if (!column) return;
    if (rows.type(*column) != Type::kInt64)
      fail(lines[0], "workload_id is not a whole number", "Rename the column with --rename.");
    const auto ids = rows.column<std::int64_t>(*column);
    for (std::int64_t row = 0; row < rows.rows(); ++row) {
      if (ids.is_null(row) || (last_id_ && ids[row] <= *last_id_))
        fail(lines[row], "workload_id does not rise",
             "Sort the rows, or rename the column with --rename: rows are then numbered.");
      last_id_ = ids[row];
    }
  }
  void add_keys(const Table& rows, const Column<std::int64_t>& lines) {
    if (plan_.key.empty()) return;
    std::vector<Names> parts;
    for (const std::string& name : plan_.key) parts.push_back(column_texts(rows, rows.index(name)));
    std::string key;
    for (std::int64_t row = 0; row < rows.rows(); ++row) {
      key.clear();
      for (const Names& part : parts)
        key.append(part[static_cast<std::size_t>(row)]).push_back('\x1f');
      keys_.add(key, place_of(lines[row]));
    }
  }

  // A line and its file in one number that rises through the files.
  static constexpr int kLineBits = 40;
  std::int64_t place_of(std::int64_t line) const {
    return static_cast<std::int64_t>(files_.size() - 1) << kLineBits | line;
  }
  [[noreturn]] void fail_duplicate(const KeyCheck::Duplicate& twice) const {
    const auto text = [this](std::int64_t place) {
      return files_[static_cast<std::size_t>(place >> kLineBits)] + ":" +
             std::to_string(place & ((std::int64_t{1} << kLineBits) - 1));
    };
    throw Error(
        OMEN_INVALID_DATA,
        text(twice.line) + ": the key of this row stands in " + text(twice.first_line) + " already",
        "Remove one of the rows, or name more columns with --key.");
  }

  const ImportPlan& plan_;
  const ImportHooks& hooks_;
  std::string file_;
  Names files_, first_names_;
  std::optional<std::int64_t> last_id_;
  KeyCheck keys_;
  container::TableWriter writer_;
};

}  // namespace

DatasetInfo import_tables(const ImportPlan& plan, const Names& files, const fs::path& directory,
                          const ImportHooks& hooks) {
  DatasetInfo info = plan.info;
  check_data_name(info.name, "dataset");
  StagedDirectory staged(directory);
  Importer importer(plan, staged.path(), hooks);
  for (const std::string& file : files) importer.read(file);
  info.rows["workloads"] = importer.finish();
  info.files = {{kFileName, "", {"workloads"}}};
  info.directory = staged.path();
  info = seal_dataset(std::move(info));
  staged.commit();
  info.directory = directory;
  return info;
}

Tables import_with(const Components& components, const ComponentRef& frontend,
                   const OptionValues& options, const Names& paths) {
  if (paths.empty() && !(frontend.info->caps & OMEN_CAP_GENERATES))
    throw Error(OMEN_INVALID_ARGUMENT, frontend.info->id + " does not generate workloads",
                "Give it files to read.");
  std::vector<Tables> parts;
  for (const std::string& path : paths.empty() ? Names{""} : paths)
    parts.push_back(lower(components, path, frontend, options).tables);
  for (const Tables& part : parts)
    if (!same_columns(part, parts[0]))
      throw Error(OMEN_INVALID_DATA, frontend.info->id + " gives different columns for these files",
                  "Import them as separate datasets.");
  return merge(parts);
}

Tables import_with(const std::string& component, const Names& paths, const TextPairs& options) {
  const Components& components = components_in_use();
  const ComponentRef ref = components.registry().component(OMEN_GRAPH_FRONTEND, component);
  FlagBook flags(options, {});
  const OptionValues values = resolve_options(*ref.info, flags.sources_for(*ref.info));
  flags.finish();
  return import_with(components, ref, values, paths);
}

namespace {

// What a front end says of its columns counts where the user says nothing else.
void keep_notes(DatasetInfo& info, const Tables& tables) {
  const bool is_open = info.targets.empty();
  for (const auto& [name, table] : tables)
    for (std::size_t c = 0; c < table.columns(); ++c) {
      const std::string column(table.name(c)), unit = table.metadata(c, OMEN_META_UNIT);
      const bool is_plain = name == OMEN_TABLE_WORKLOADS || is_withheld(name);
      std::string key = is_plain ? column : name + "." + column;
      if (!unit.empty() && info.unit(key).empty()) info.columns[key].unit = unit;
      if (is_open && name == OMEN_TABLE_TARGETS && column != OMEN_COLUMN_WORKLOAD_ID &&
          column != OMEN_COLUMN_CANDIDATE_ID)
        info.targets.push_back({column, unit,
                                from_word<Direction>(table.metadata(c, OMEN_META_DIRECTION))
                                    .value_or(Direction::kLower)});
    }
}

}  // namespace

void check_columns(const DatasetInfo& info, const Tables& tables) {
  const auto workloads = tables.find("workloads");
  if (workloads == tables.end())
    throw Error(OMEN_INVALID_DATA, "dataset '" + info.name + "' has no table 'workloads'");
  const Names names = column_names_of(workloads->second);
  if (!info.group.empty()) require("group", info.group, names);
  Names all = names;
  for (const auto& [name, table] : tables)
    for (const std::string& column : column_names_of(table)) {
      all.push_back(name + "." + column);
      if (is_withheld(name)) all.push_back(column);
    }
  for (const TargetSpec& target : info.targets) require("target", target.name, all);
  for (const auto& [column, note] : info.columns) require("note on", column, all);
}

DatasetInfo write_dataset_directory(DatasetInfo info, const Tables& tables,
                                    const fs::path& directory) {
  check_data_name(info.name, "dataset");
  keep_notes(info, tables);
  check_columns(info, tables);
  StagedDirectory staged(directory);
  DatasetFile file{"tables.omt", "", {}};
  for (const auto& [name, table] : tables) {
    file.tables.push_back(name);
    info.rows[name] = table.rows();
  }
  write_dataset(staged.path() / file.name, tables);
  info.files = {file};
  info.directory = staged.path();
  info = seal_dataset(std::move(info));
  staged.commit();
  info.directory = directory;
  return info;
}

}  // namespace omen::host
