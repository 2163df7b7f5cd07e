// SPDX-License-Identifier: Apache-2.0
// Turns tables and artefacts that people have into dataset directories.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace omen::host {

class Components;
class OptionValues;
struct ComponentRef;

// What to do with the columns of a table on its way in. Names are those after renaming.
struct ImportPlan {
  DatasetInfo info;                  // name, summary, origin, licence, columns, targets, group
  std::string format;                // csv, tsv or jsonl; empty: by the suffix of each file
  TextPairs renames;                 // name in the file, new name
  std::vector<std::string> text;     // columns to read as text
  std::vector<std::string> numbers;  // columns to read as floating point
  std::vector<std::string> key;      // together different in every row
};

struct ImportHooks {
  std::function<void(std::int64_t rows)> progress;  // now and then
  std::function<bool()> is_cancelled;
};

// Tables from files (or "-", standard input) behind each other, in one pass and constant memory.
// Errors are OMEN_INVALID_DATA with file and line: fields that do not fit, keys that repeat,
// targets that are NaN or infinite. Nothing is left where it fails.
DatasetInfo import_tables(const ImportPlan& plan, const std::vector<std::string>& files,
                          const std::filesystem::path& directory, const ImportHooks& hooks = {});

// Tables from a front end, one input behind the other; without paths it generates its own.
Tables import_with(const Components& components, const ComponentRef& frontend,
                   const OptionValues& options, const std::vector<std::string>& paths);
// The same through the door in use, for recipes.
Tables import_with(const std::string& component, const std::vector<std::string>& paths,
                   const TextPairs& options);

// Refuses an info that names columns which the tables do not have.
void check_columns(const DatasetInfo& info, const Tables& tables);
// Writes the tables as one file, seals the dataset and puts the directory in place in one step;
// what was there before is replaced.
DatasetInfo write_dataset_directory(DatasetInfo info, const Tables& tables,
                                    const std::filesystem::path& directory);

}  // namespace omen::host
