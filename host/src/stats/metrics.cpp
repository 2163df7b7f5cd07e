// SPDX-License-Identifier: Apache-2.0
// Error metrics of predictions: regression, classes, intervals, decisions.
#include "stats/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "omen/error.hpp"
#include "omen/learn/correlation.hpp"
#include "omen/learn/quantile.hpp"

namespace omen::host::stats {
namespace {

constexpr double kNoMetrics = std::numeric_limits<double>::quiet_NaN();

void require_same_length(std::size_t a, std::size_t b) {
  if (a != b) throw Error(OMEN_INVALID_ARGUMENT, "truth and predictions differ in length");
}

double absolute_percent(double truth, double predicted) {
  if (truth == 0) return predicted == 0 ? 0 : std::numeric_limits<double>::infinity();
  return 100 * std::abs((predicted - truth) / truth);
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : kNoMetrics;
}

double share_within(const std::vector<double>& errors, double limit) {
  const auto inside =
      std::count_if(errors.begin(), errors.end(), [&](double e) { return e <= limit; });
  return percent(static_cast<double>(inside), static_cast<double>(errors.size()));
}

double r_squared(std::span<const double> truth, double squared_error) {
  const double middle = learn::mean(truth);
  double total = 0;
  for (const double value : truth) total += (value - middle) * (value - middle);
  return total > 0 ? 1 - squared_error / total : kNoMetrics;
}

// What a class got right and how often it was true and predicted.
struct ClassCounts {
  double right = 0, truth = 0, predicted = 0;
  double f1() const { return 2 * right / (truth + predicted); }
};

std::vector<ClassCounts> count_classes(const Confusion& matrix) {
  const std::size_t n = matrix.classes.size();
  std::vector<ClassCounts> classes(n);
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t p = 0; p < n; ++p) {
      const auto count = static_cast<double>(matrix.counts[t * n + p]);
      classes[t].truth += count;
      classes[p].predicted += count;
      if (t == p) classes[t].right += count;
    }
  return classes;
}

// A probability of 0 would make one row infinitely bad.
double log_loss(double probability) {
  return -std::log(std::clamp(probability, std::numeric_limits<double>::epsilon(), 1.0));
}

double mean_log_loss(std::span<const std::int32_t> truth, std::span<const double> probability,
                     std::size_t classes) {
  require_same_length(truth.size() * classes, probability.size());
  double sum = 0;
  for (std::size_t row = 0; row < truth.size(); ++row)
    sum += log_loss(probability[row * classes + static_cast<std::size_t>(truth[row])]);
  return sum / static_cast<double>(truth.size());
}

// What the user ends up with.
double taken(const Decision& decision) {
  return decision.feasible ? decision.picked : decision.by_default;
}

[[noreturn]] void unknown_loss(Loss loss, const char* known) {
  throw Error(OMEN_INVALID_ARGUMENT, std::string("unknown loss '") + word_of(loss) + "'",
              std::string("known are ") + known);
}

}  // namespace

std::vector<Metric> regression_metrics(std::span<const double> truth,
                                       std::span<const double> predicted, const std::string& unit) {
  require_same_length(truth.size(), predicted.size());
  const auto rows = static_cast<double>(truth.size());
  double absolute = 0, squared = 0;
  std::vector<double> relative;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = predicted[i] - truth[i];
    absolute += std::abs(error);
    squared += error * error;
    relative.push_back(absolute_percent(truth[i], predicted[i]));
  }
  const double mape = learn::mean(relative);
  return {{"mae", absolute / rows, unit},
          {"rmse", std::sqrt(squared / rows), unit},
          {"mape", std::isfinite(mape) ? mape : kNoMetrics, "%"},
          {"median_ape", learn::median(relative), "%"},
          {"share_within_5", share_within(relative, 5), "%", false},
          {"share_within_10", share_within(relative, 10), "%", false},
          {"r2", r_squared(truth, squared), "", false},
          {"spearman", learn::spearman(truth, predicted), "", false},
          {"kendall", learn::kendall(truth, predicted), "", false}};
}

Confusion confusion(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::vector<std::string> classes) {
  require_same_length(truth.size(), predicted.size());
  const std::size_t n = classes.size();
  Confusion matrix{std::move(classes), std::vector<std::int64_t>(n * n)};
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const auto t = static_cast<std::size_t>(truth[row]),
               p = static_cast<std::size_t>(predicted[row]);
    if (t >= n || p >= n)
      throw Error(OMEN_INVALID_ARGUMENT, "row " + std::to_string(row) + " has class " +
                                             std::to_string(t >= n ? truth[row] : predicted[row]) +
                                             " of " + std::to_string(n));
    ++matrix.counts[t * n + p];
  }
  return matrix;
}

std::vector<Metric> class_metrics(const Confusion& matrix, std::span<const std::int32_t> truth,
                                  std::span<const double> probability) {
  double rows = 0, right = 0, recall = 0, f1 = 0, f1_weighted = 0, true_classes = 0, seen = 0;
  for (const ClassCounts& c : count_classes(matrix)) {
    rows += c.truth;
    right += c.right;
    if (c.truth + c.predicted == 0) continue;
    ++seen;
    f1 += c.f1();
    f1_weighted += c.f1() * c.truth;
    if (c.truth == 0) continue;
    ++true_classes;
    recall += c.right / c.truth;
  }
  std::vector<Metric> metrics{{"accuracy", percent(right, rows), "%", false},
                              {"balanced_accuracy", percent(recall, true_classes), "%", false},
                              {"f1_macro", f1 / seen, "", false},
                              {"f1_weighted", f1_weighted / rows, "", false}};
  if (!probability.empty())
    metrics.push_back({"log_loss", mean_log_loss(truth, probability, matrix.classes.size()), ""});
  return metrics;
}

// The interval score of doi:10.1198/016214506000001437, section 6.2.
std::vector<Metric> interval_metrics(std::span<const double> truth, std::span<const double> lo,
                                     std::span<const double> hi, double level,
                                     const std::string& unit) {
  require_same_length(truth.size(), lo.size());
  require_same_length(truth.size(), hi.size());
  const auto rows = static_cast<double>(truth.size());
  double covered = 0, width = 0, outside = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    covered += lo[i] <= truth[i] && truth[i] <= hi[i] ? 1 : 0;
    width += hi[i] - lo[i];
    outside += std::max({0.0, lo[i] - truth[i], truth[i] - hi[i]});
  }
  // More coverage than asked for is no merit, but less is a fault.
  return {{"coverage", percent(covered, rows), "%", false},
          {"width", width / rows, unit},
          {"winkler", (width + 2 / (1 - level) * outside) / rows, unit}};
}

double decision_regret(const Decision& decision, bool lower_is_better) {
  const double excess = (taken(decision) - decision.best) * (lower_is_better ? 1 : -1);
  if (excess == 0) return 0;
  return decision.best != 0 ? 100 * excess / std::abs(decision.best) : kNoMetrics;
}

std::vector<Metric> decision_metrics(std::span<const Decision> decisions, bool lower_is_better) {
  double regret = 0, judged = 0, top = 0, infeasible = 0, gain = 0, most = 0;
  for (const Decision& d : decisions) {
    if (const double r = decision_regret(d, lower_is_better); std::isfinite(r)) {
      regret += r;
      ++judged;
    }
    top += d.feasible && d.picked == d.best ? 1 : 0;
    infeasible += d.feasible ? 0 : 1;
    if (std::isnan(d.by_default)) continue;
    gain += std::abs(d.by_default - d.best) - std::abs(taken(d) - d.best);
    most += std::abs(d.by_default - d.best);
  }
  const auto rows = static_cast<double>(decisions.size());
  return {{"regret", judged > 0 ? regret / judged : kNoMetrics, "%"},
          {"top1", percent(top, rows), "%", false},
          {"share_of_oracle_gain", percent(gain, most), "%", false},
          {"infeasible_picks", percent(infeasible, rows), "%"}};
}

double number_loss(Loss loss, double truth, double predicted) {
  const double error = predicted - truth;
  if (loss == Loss::kAbsolute) return std::abs(error);
  if (loss == Loss::kSquared) return error * error;
  if (loss == Loss::kAbsolutePercent)
    return truth == 0 ? kNoMetrics : absolute_percent(truth, predicted);
  unknown_loss(loss, "absolute, squared and absolute-percent");
}

double class_loss(Loss loss, std::int32_t truth, std::int32_t predicted,
                  double probability_of_truth) {
  if (loss == Loss::kZeroOne) return truth == predicted ? 0 : 1;
  if (loss == Loss::kLogLoss) return log_loss(probability_of_truth);
  unknown_loss(loss, "zero-one and log-loss");
}

}  // namespace omen::host::stats
