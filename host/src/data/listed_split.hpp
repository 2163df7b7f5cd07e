// SPDX-License-Identifier: Apache-2.0
// Splits that name the role of each row in each fold; a row may be in several folds, or in none.
#pragma once

#include <string>
#include <vector>

#include "data/task.hpp"

namespace omen::host {

struct ListedRow {
  std::int64_t row = 0;  // of `workloads`
  std::string fold;
  Role role = Role::kTrain;
};
using ListedRows = std::vector<ListedRow>;

// Rows of a table workload_id,fold,role. OMEN_INVALID_DATA where it names a workload that is not
// there, a row twice in one fold, an unknown role, or a fold without training or test rows.
ListedRows read_listed(const std::filesystem::path& file, const Table& workloads);
// The same table as text, folds in order of first appearance and rows in that of the workloads.
std::string listed_text(const ListedRows& rows, const Table& workloads);
std::vector<Fold> listed_folds(const ListedRows& rows);

// Deals the values of both keys to folds. In each fold no training row holds a value that is held
// out: a row with one or two such values is tested, or, where only one key is held out, takes the
// part that split.mixed says.
ListedRows pair_folds(const TaskSplit& split, const std::vector<std::string>& first,
                      const std::vector<std::string>& second);

}  // namespace omen::host
