// SPDX-License-Identifier: Apache-2.0
// Joins predictions with the truth: one answer a workload (or node, or candidate), repeats
// averaged, refusals kept with their reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare/jobs.hpp"
#include "tables/row_status.hpp"

namespace omen::host {

// What is predicted once.
struct Units {
  explicit Units(const PlannedTask& task);

  std::vector<std::int64_t> row;          // of workloads
  std::vector<std::int64_t> workload_id;  //
  std::vector<std::int64_t> part;         // node or candidate; -1 for the workload itself
  std::vector<std::string> name, group;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> place;  // (workload_id, part)
  std::vector<std::vector<std::size_t>> of_row;                        // units of each workload
};

// True values of one target; NaN (or -1) where none was measured.
struct Truth {
  Truth(const PlannedTask& task, const Units& units, const TaskTarget& target);

  TaskTarget target;
  std::vector<double> number;
  std::vector<std::int32_t> code;
  std::vector<std::string> classes;  // those of the data, then others that somebody predicted
  std::size_t measured_classes = 0;
  bool known(std::size_t unit) const;
};

// What one contestant said in one fold.
struct FoldAnswers {
  const Fold* fold = nullptr;
  const JobRecord* record = nullptr;
  Tables tables;
};

// One contestant on one target.
struct Answers {
  // Per unit; NaN or empty where there is none.
  std::vector<double> predicted, lo, hi, loss;
  std::vector<std::string> predicted_class, status;
  std::vector<bool> expected;  // tested in some fold, with a known truth
  // Every single answer, repeats apart: what metrics are computed from.
  std::vector<double> truths, predictions, interval_truths, los, his;
  std::vector<std::int32_t> true_codes, predicted_codes;
  std::vector<std::vector<double>> probabilities;  // of the measured classes, empty without
  double level = 0;                                // of the intervals; 0: none
};
Answers collect_answers(const Units& units, Truth& truth, const std::vector<FoldAnswers>& folds);

// Losses and answers of the decision that the predictions (or the scorer) make.
struct DecisionAnswers {
  std::vector<stats::Decision> decisions;  // of the workloads that were decided, repeats apart
  Answers answers;                         // per workload row; loss is the regret in %
  std::vector<double> best;                // per workload row: what the oracle's pick costs
  std::vector<std::string> best_name;
};
DecisionAnswers collect_decisions(const PlannedTask& task, const std::vector<FoldAnswers>& folds);

// "ok" and "extrapolating" count as answers.

}  // namespace omen::host
