// SPDX-License-Identifier: Apache-2.0
// Error metrics of predictions: regression, classes, intervals, decisions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace omen::host::stats {

struct Metric {
  std::string name;  // "mae", "mape", "r2", "share_within_5", "f1_macro", "coverage", "regret"
  double value;      // NaN where it is not defined for these rows
  std::string unit;  // "" for pure numbers, "%" or the target's unit
  bool lower_is_better = true;
};

// mae, rmse, mape, median_ape, share_within_5, share_within_10, r2, spearman, kendall (tau-b).
std::vector<Metric> regression_metrics(std::span<const double> truth,
                                       std::span<const double> predicted, const std::string& unit);

struct Confusion {
  std::vector<std::string> classes;
  std::vector<std::int64_t> counts;  // row-major: truth x predicted
};
Confusion confusion(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::vector<std::string> classes);
// accuracy, balanced_accuracy, f1_macro, f1_weighted; log_loss where `probability` (row-major, one
// column a class) is given.
std::vector<Metric> class_metrics(const Confusion& matrix, std::span<const std::int32_t> truth,
                                  std::span<const double> probability = {});

// coverage, width (mean), winkler (mean interval score at `level`).
std::vector<Metric> interval_metrics(std::span<const double> truth, std::span<const double> lo,
                                     std::span<const double> hi, double level,
                                     const std::string& unit);

// One workload's decision among candidates with true costs.
struct Decision {
  double picked;      // true cost of the pick; NaN where the pick was infeasible
  double best;        // true cost of the oracle's pick
  double by_default;  // true cost of the default candidate; NaN where there is none
  bool feasible = true;
};
// regret (mean, relative to the best), top1, share_of_oracle_gain, infeasible_picks.
std::vector<Metric> decision_metrics(std::span<const Decision> decisions, bool lower_is_better);

// Loss of one row, by the names of TaskTarget::loss.
double number_loss(const std::string& loss, double truth, double predicted);

}  // namespace omen::host::stats
