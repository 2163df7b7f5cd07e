// SPDX-License-Identifier: Apache-2.0
// Recipes: how raw files of an OMEN_DATA directory become a dataset in the user's cache.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.hpp"

namespace omen::host {

// A raw file, pinned by its digest.
struct RawFile {
  std::string file;  // below OMEN_DATA
  std::string sha256;
  std::string url;  // where `omen data fetch` gets it; empty: nowhere
};

// Rows of one raw table.
struct SourceStep {
  std::string file;
  std::string unnamed;            // name for a column whose header is empty
  std::vector<std::string> text;  // columns that are text whatever they look like
  TextPairs add;                  // columns with one value for all rows of this file
};

// Columns of a second raw table, looked up by equal values.
struct JoinStep {
  std::string file;
  TextPairs on;    // column here, column there
  TextPairs take;  // new name, column there
};

// A new column from others.
struct DeriveStep {
  std::string column, from;
  std::string match;                 // the first group of this regular expression in the text
  double times = 0;                  // a factor, to change the unit; 0: none
  std::vector<std::string> product;  // columns whose product it is, instead of `from`
  std::vector<std::string> over;     // columns to divide by
  std::string percent_with;  // the column that `from` shares the whole with, in whole percent
  std::vector<std::string> nearest;  // the nearest of these numbers, as text
  std::vector<std::string> texts;    // columns whose texts are joined by '-'

  bool multiplies() const { return times != 0 || !product.empty() || !over.empty(); }
};

// Figures of the registry of devices, looked up by the name in a column.
struct DeviceStep {
  std::string on;
  TextPairs take;  // new name, figure
};

// Rows that stay: the column has one of the values, has none of them, or has any value at all.
struct WhereStep {
  std::string column;
  std::vector<std::string> is, is_not;
  bool known = false;
};

struct ColumnStep {
  std::string name, from;
};

// Which of the front end's graphs belongs to a row: patterns such as "{kernel}-{size}" with columns
// in braces, of which the first that names a graph counts.
struct GraphStep {
  std::vector<std::string> names;
  TextPairs take;  // new name, column of the front end's workloads
};

struct TableSteps {
  std::string table;
  std::vector<SourceStep> sources;  // behind each other
  std::vector<WhereStep> only;      // of the sources, before anything is joined or derived
  std::vector<JoinStep> joins;
  std::vector<DeviceStep> devices;
  std::vector<DeriveStep> derive;
  std::vector<WhereStep> where;
  std::vector<GraphStep> graphs;    // none or one
  std::vector<ColumnStep> columns;  // what is kept, in this order
  std::vector<std::string> key;     // together different in every row
};

// The tables `candidates` and `candidate_costs`, from columns of `workloads` that hold their costs,
// or from rows: those with equal values `by` are the candidates of one workload.
struct CandidateSteps {
  std::string cost;  // the column of candidate_costs; of rows, also that of workloads
  TextPairs from;    // name of the candidate, column of its cost
  std::vector<std::string> by;
  std::string name;                  // of rows: the column that names a candidate
  std::vector<std::string> columns;  // of rows: what describes a candidate, with its name
};

// Tables from a front end.
struct ComponentStep {
  std::string component;
  std::vector<std::string> files;
  std::vector<std::string> archives;  // tar files whose members are read, in the order of names
  std::string members;                // regular expression for the paths in archives
  std::map<std::string, std::vector<std::string>> keep;  // table -> its columns; absent: all
  TextPairs options;
};

struct Recipe {
  std::filesystem::path file;
  std::string sha256;  // of the recipe itself
  std::string name, summary, origin, license, group;
  std::vector<RawFile> raw;
  std::vector<TableSteps> tables;
  std::vector<CandidateSteps> candidates;  // none or one
  std::vector<ComponentStep> components;   // none or one
  std::map<std::string, ColumnNote> columns;
  std::vector<TargetSpec> targets;
};

// OMEN_INVALID_DATA with file and field.
Recipe read_recipe(const std::filesystem::path& file);
// A file, or the recipe of this name in any of the places; OMEN_NOT_FOUND with near names.
std::filesystem::path find_recipe(const std::string& name,
                                  const std::filesystem::path& beside = {});
// Where a raw file is: below OMEN_DATA, or below <cache>/raw, where `omen data fetch` puts it.
// OMEN_NOT_FOUND says what to set or to fetch; OMEN_INVALID_DATA where the digest differs.
std::filesystem::path raw_path(const Recipe& recipe, const std::string& file);
std::filesystem::path raw_cache();
// Makes the dataset and puts it in place in one step; a dataset that was there before is replaced.
DatasetInfo make_dataset(const Recipe& recipe, const std::filesystem::path& directory);

}  // namespace omen::host
