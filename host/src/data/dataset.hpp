// SPDX-License-Identifier: Apache-2.0
// Datasets on disk: a directory of tables with dataset.json beside them, and the recipes that make
// one from raw files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dataset_tables.hpp"

namespace omen::host {

// One file of a dataset: `<table>.csv`, `.jsonl` or an `.omt` that holds one or several tables.
struct DatasetFile {
  std::string name;  // relative to the directory
  std::string sha256;
  std::vector<std::string> tables;
};

// What dataset.json says.
struct DatasetInfo {
  std::filesystem::path directory;
  std::string name, summary, origin, license;
  std::map<std::string, std::string> units;  // column -> unit
  std::vector<DatasetFile> files;
  std::string digest;  // sha256 over names and digests of the files: what a task freezes
};

// A directory, or the name of a dataset: of `data/` beside the task, of the installed share
// directory, or of the user's cache, where a recipe makes it on first use. OMEN_NOT_FOUND lists the
// places tried and near names.
DatasetInfo find_dataset(const std::string& name_or_directory,
                         const std::filesystem::path& beside = {});
DatasetInfo read_dataset_info(const std::filesystem::path& directory);
// OMEN_INVALID_DATA names the file whose digest differs.
void verify_dataset(const DatasetInfo& info);
// Every table, ids and groups completed; large ones are mapped.
Tables load_dataset(const DatasetInfo& info);

}  // namespace omen::host
