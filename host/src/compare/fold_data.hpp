// SPDX-License-Identifier: Apache-2.0
// What a contestant gets to see of one fold: training rows with targets, test rows without.
#pragma once

#include <string>
#include <vector>

#include "compare/jobs.hpp"

namespace omen::host {

// Whether the predictor is asked for a cost of every candidate.
bool predicts_candidates(const Task& task, const Tables& tables);
// The table with the true values of what is predicted: targets, node_targets or candidate_costs.
const Table& truth_table(const Task& task, const Tables& tables);

struct FoldData {
  Tables train, valid;    // with targets; valid is empty where the fold has none
  Tables observe;         // with targets; empty where the fold has none
  Tables test;            // inputs only
  Table candidates;       // of the test rows, where they are predicted
  bool expanded = false;  // each pair of workload and candidate became a workload
};
// Dictionaries of inputs hold only what occurs in the rows, so that no vocabulary leaks either.
FoldData fold_data(const PlannedTask& task, const Fold& fold, const ComponentInfo& predictor,
                   bool scalars_only);

}  // namespace omen::host
