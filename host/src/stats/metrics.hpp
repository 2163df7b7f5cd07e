// SPDX-License-Identifier: Apache-2.0
// Error metrics of predictions: regression, classes, intervals, decisions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/loss.hpp"

namespace omen::host::stats {

struct Metric {
  std::string name;  // "mae", "mape", "r2", "share_within_5", "f1_macro", "coverage", "regret"
  double value;      // NaN where it is not defined for these rows
  std::string unit;  // "" for pure numbers, "%" or the target's unit
  bool lower_is_better = true;
};

// mae, rmse, mape, median_ape, share_within_5, share_within_10 (all four in %), r2, spearman,
// kendall (tau-b). A truth of 0 is infinitely far from any other answer in relative terms, so it
// leaves mape undefined.
std::vector<Metric> regression_metrics(std::span<const double> truth,
                                       std::span<const double> predicted, const std::string& unit);

struct Confusion {
  std::vector<std::string> classes;
  std::vector<std::int64_t> counts;  // row-major: truth x predicted
};
Confusion confusion(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::vector<std::string> classes);
// accuracy, balanced_accuracy (in %), f1_macro (over classes that occur), f1_weighted; log_loss
// where `probability` (row-major, one column a class) is given.
std::vector<Metric> class_metrics(const Confusion& matrix, std::span<const std::int32_t> truth,
                                  std::span<const double> probability = {});

// coverage (in %), width (mean), winkler (mean interval score at `level`).
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
// How much worse than the best, in % of the best. After an infeasible pick the user is left with
// the default candidate; NaN where there is none.
double decision_regret(const Decision& decision, bool lower_is_better);
// regret (mean), top1, share_of_oracle_gain (what the picks gain over the default, of what the best
// gain), infeasible_picks; all in %.
std::vector<Metric> decision_metrics(std::span<const Decision> decisions, bool lower_is_better);

// Loss of one row; kAbsolutePercent of a truth of 0 is NaN.
double number_loss(Loss loss, double truth, double predicted);
// kZeroOne, or kLogLoss of the probability that was given to the true class.
double class_loss(Loss loss, std::int32_t truth, std::int32_t predicted,
                  double probability_of_truth);

}  // namespace omen::host::stats
