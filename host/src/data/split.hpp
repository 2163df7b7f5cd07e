// SPDX-License-Identifier: Apache-2.0
// Rows to folds: seeded, and the same on every platform.
#pragma once

#include <string>
#include <vector>

#include "data/task.hpp"

namespace omen::host {

// The fold in which each row is tested, one list per repeat; "train", "valid" and "test" for a
// fixed split of that kind. `labels` holds the value of the split's column for each row (may be
// empty for "k-fold"). OMEN_INVALID_ARGUMENT where the split does not fit the rows.
std::vector<std::vector<std::string>> assign_folds(const TaskSplit& split, std::size_t rows,
                                                   const std::vector<std::string>& labels);
// Folds in order of their number, or of first appearance.
std::vector<Fold> folds_of(const TaskSplit& split,
                           const std::vector<std::vector<std::string>>& assigned);

}  // namespace omen::host
