// SPDX-License-Identifier: Apache-2.0
// Datasets as the host assembles them: ids and groups that files leave out, targets, splits, merges
// and candidates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "omen/table.hpp"
#include "tables/target_words.hpp"

namespace omen::host {

using Tables = std::map<std::string, Table>;
using TextPairs = std::vector<std::pair<std::string, std::string>>;

// A table by its suffix; .json is not, because it may be a network.
bool is_table_file(const std::filesystem::path& path);
// Every table of an .omt file, or one table `workloads` from CSV, TSV, JSON lines or a JSON array.
Tables read_dataset(const std::filesystem::path& path);
Tables read_json_lines(std::istream& in, const std::string& name);
void write_dataset(const std::filesystem::path& path, const Tables& tables);
// One row of the given columns, typed as a CSV file would be.
Tables one_row(const TextPairs& features);

// Adds workload_id (0..n-1) and group (its own row) to `workloads` where they are missing; a named
// group column becomes `group`.
void complete_workloads(Tables& tables, const std::string& group_column = {});

// Every value of a column as text: numbers exact, nulls empty.
std::vector<std::string> column_texts(const Table& table, std::size_t column);
// A table with one dictionary column.
Table category_column(const std::string& name, const std::vector<std::string>& values,
                      Metadata metadata = {});
// Replaces or appends a column.
Table with_column(const Table& table, const Table& column_of, std::size_t column);
template <class T>
Table with_values(const Table& table, const std::string& name, std::vector<T> values) {
  TableBuilder one;
  one.add(name, std::move(values));
  return with_column(table, one.finish(), 0);
}
// Old and new names; columns that are not listed keep theirs.
Table rename_columns(const Table& table, const TextPairs& renames);
// Replaces the metadata of one column.
Table with_metadata(const Table& table, std::size_t column, const Metadata& metadata);
Table without_columns(const Table& table, const std::vector<std::string>& names);

struct TargetSpec {
  std::string name, unit;
  Direction direction = Direction::kLower;
};
// "time_ms", "time_ms:ms", "score:1:higher".
TargetSpec parse_target(const std::string& text);
// What has a unit other than 1 is a quantity: the first row of the column that says something else,
// so that a slip in one row does not make classes of it.
std::optional<std::int64_t> row_of_slip(const Table& table, const TargetSpec& target);
// Moves target columns of `workloads` into table `targets`; rows without a value for any target are
// dropped and counted.
std::int64_t split_targets(Tables& tables, const std::vector<TargetSpec>& targets);

// The rows of `workloads` given by index, with everything in the other tables that belongs to them.
Tables keep_workloads(const Tables& tables, const std::vector<std::int64_t>& rows);

// 0..count-1 in an order that depends on the seed only; the same with every standard library, which
// std::shuffle does not promise.
std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed);

struct Split {
  Tables train, valid;  // valid is empty where there are too few groups
  std::size_t train_groups = 0, valid_groups = 0;
};
// Keeps whole groups together; which ones are held out depends on the seed only.
Split split_by_group(const Tables& tables, double share, std::uint64_t seed);

// Datasets of one schema behind each other, with ids renumbered.
Tables merge(const std::vector<Tables>& parts);
bool same_columns(const Tables& a, const Tables& b);

// Candidates as a scorer reads them: workload_id for every workload where it is missing,
// candidate_id where it is missing.
Table complete_candidates(const Table& candidates, const Table& workloads);
// One workload row per (workload, candidate), with the columns of both; workload_id counts the
// pairs.
Tables expand_candidates(const Tables& tables, const Table& candidates);
// Turns predictions over expanded workloads back into predictions per (workload, candidate).
Table collapse_candidates(const Table& predictions, const Table& candidates);

}  // namespace omen::host
