// SPDX-License-Identifier: Apache-2.0
// Datasets on disk: a directory of tables with dataset.json beside them, and the places where they
// and the recipes that make them are looked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tables/dataset_tables.hpp"
#include "text/json_writer.hpp"

namespace omen::host {

// One file of a dataset: a `.csv`, `.tsv` or `.jsonl` with one table, or an `.omt` that holds one
// or several.
struct DatasetFile {
  std::string name;  // relative to the directory
  std::string sha256;
  std::vector<std::string> tables;
};

// The list "files" of a JSON document.
void write_files(JsonWriter& json, const std::vector<DatasetFile>& files);

// What is known of a column of `workloads`, or of another table as "table.column".
struct ColumnNote {
  std::string unit, meaning;
};

// What dataset.json says.
struct DatasetInfo {
  std::filesystem::path directory;
  std::string name, summary, origin, license;
  std::map<std::string, ColumnNote> columns;
  std::vector<TargetSpec>
      targets;        // columns that were measured; never inputs unless a task says so
  std::string group;  // the column that a task groups by unless it says otherwise
  std::vector<DatasetFile> files;
  std::map<std::string, std::int64_t> rows;  // table -> rows, where known
  std::string recipe_sha256;                 // of the recipe that made it; empty: none
  std::string digest;  // sha256 over names, tables and digests of the files: what a task freezes

  const std::string& unit(const std::string& column) const;  // empty where unknown
};

// A directory, or the name of a dataset: of `data/` beside the task or above it, of the installed
// share directory, or of the user's cache, where a recipe makes it on first use. OMEN_NOT_FOUND
// lists the places tried and near names.
DatasetInfo find_dataset(const std::string& name_or_directory,
                         const std::filesystem::path& beside = {});
// OMEN_INVALID_DATA with file and field for anything that does not fit.
DatasetInfo read_dataset_info(const std::filesystem::path& directory);
// OMEN_INVALID_DATA names the file whose digest differs.
void verify_dataset(const DatasetInfo& info);
// Every table, ids and groups completed; .omt files are mapped.
Tables load_dataset(const DatasetInfo& info);

// Completes the digests of files and writes dataset.json into `info.directory`.
DatasetInfo seal_dataset(DatasetInfo info);
// Lower case letters, digits, '-', '_' and '.': what a name of a dataset, recipe or task may be.
void check_data_name(const std::string& name, const char* what);

// Where datasets of this user lie: <cache>/datasets.
std::filesystem::path dataset_cache();
// Directories that may hold datasets by name and `recipes/`, first match first; the last one is
// the user's cache.
std::vector<std::filesystem::path> data_places(const std::filesystem::path& beside = {});

enum class DatasetState { kReady, kToMake, kBroken };
template <>
struct WordTable<DatasetState> {
  static constexpr const char* kWords[] = {"ready", "to make", "broken"};
};

// A dataset that could be used by its name.
struct DatasetEntry {
  std::string name, summary, license;
  DatasetState state = DatasetState::kReady;
  std::filesystem::path place;  // directory, or the recipe's file
  std::string fault;            // why it is broken
};
std::vector<DatasetEntry> list_datasets();

}  // namespace omen::host
