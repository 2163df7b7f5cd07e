// SPDX-License-Identifier: Apache-2.0
// From a command line to a plan: contestants with their options, references, tasks, folds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/jobs.hpp"
#include "pipeline/flag_book.hpp"

namespace omen::host {

struct PlanRequest {
  // "baseline.gbt", "baseline.gbt@depth=4,rounds=50", or a model file.
  std::vector<std::string> contestants;
  std::vector<std::string> tasks;  // files, or names of installed ones
  bool references = true;          // constant, 5-NN and boosted trees
  bool self_check = false;         // the only contestant once more, with the next seed
  bool shuffle_labels = false;
  RunSettings run;
  WorkerLimits limits;
  unsigned jobs = 0;  // at once; 0: the thread budget by the threads of a fold
};

// Components come from `registry`, which must outlive the plan. What the user should know but need
// not act on goes to `warnings`.
ComparePlan make_plan(const Registry& registry, FlagBook& flags, const PlanRequest& request,
                      std::vector<std::string>& warnings);

// One contestant from what a run recorded of it: canonical options, no flags, no environment.
PlannedContestant recorded_contestant(const Registry& registry, const Contestant& facts);
// Loads tasks, shuffles, finds near-duplicates; appends the grouped tasks behind the given ones.
void plan_tasks(ComparePlan& plan, const Registry& registry, const std::vector<std::string>& tasks,
                std::vector<std::string>& warnings);
// How many jobs may run at once within the thread budget.
unsigned jobs_at_once(const ComparePlan& plan, unsigned threads);

// The contestant that a text means: its label, or a component id that is there once.
std::size_t find_contestant(const ComparePlan& plan, const std::string& text);

}  // namespace omen::host
