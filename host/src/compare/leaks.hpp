// SPDX-License-Identifier: Apache-2.0
// Leak guard: near-duplicates across train and test, folds that keep them together, and shuffled
// labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/task.hpp"

namespace omen::host {

// One text a row of `workloads`, equal for near-duplicates: the same graph, or where there is none
// the same features (numbers to six digits). Ids, names and groups do not count.
std::vector<std::string> duplicate_keys(const Tables& tables);

// Test rows whose near-duplicate is in their training set, each counted once.
std::int64_t leaking_rows(const std::vector<Fold>& folds, const std::vector<std::string>& keys);

// As many folds as the task's first repeat has, with near-duplicates on one side; what a grouped
// split holds together stays together. Where that cannot be, as in a fixed split, folds keep their
// test rows and lose the training rows that leak. Empty where nothing is left to learn from.
std::vector<Fold> grouped_folds(const Task& task, const Tables& tables,
                                const std::vector<Fold>& folds,
                                const std::vector<std::string>& keys);

// Gives every row the targets (and costs) of a row drawn without replacement: nothing is left to
// learn.
void shuffle_labels(Tables& tables, std::uint64_t seed);

}  // namespace omen::host
