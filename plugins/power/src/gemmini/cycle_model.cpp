// SPDX-License-Identifier: Apache-2.0
// The closed form of cycles, and its fit by robust least squares in logarithms.
#include "gemmini/cycle_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <omen/learn/errors.hpp>

#include "llm/robust_fit.hpp"

namespace omen::power {
namespace {

constexpr std::size_t kFewestRuns = 20;
// Groups are held out one by one, or in so many parts where there are more.
constexpr std::size_t kMostFolds = 6;
// Rows, least rows of a block, lines (weights whole, in parts, far apart; inputs whole, in parts),
// outputs, narrow outputs, sums, tile, overlap, start, lines that every tile asks for again.
constexpr double kUsualCosts[] = {1, 8, 8, 10, 16, 8, 12, 3, 12, 8, 100, 2, 500, 0.3, 0.7};
// How strongly the costs are held to the usual ones.
constexpr double kPulls[] = {0.05, 0.15, 0.4, 1};

double log_cycles(const TiledWork& work, const learn::Vector& logs) {
  const auto cost = [&](learn::Index at) { return std::exp(logs[at]); };
  const double array =
      cost(0) * (work.full_rows + work.blocks * std::max(work.rows_in_block, cost(1)));
  const double memory = cost(2) * work.weight_lines + cost(3) * work.weight_parts +
                        cost(4) * work.weight_far_parts + cost(5) * work.input_lines +
                        cost(6) * work.input_parts + cost(7) * work.output_rows +
                        cost(8) * work.narrow_output_rows + cost(9) * work.sums_moved +
                        cost(13) * work.weight_again + cost(14) * work.input_again;
  const double longer = std::max(array, memory), shorter = std::min(array, memory),
               power = 1 + cost(11);
  return std::log(longer * std::pow(1 + std::pow(shorter / longer, power), 1 / power) +
                  cost(10) * work.tiles + cost(12));
}

learn::Vector usual_costs() {
  learn::Vector made(static_cast<learn::Index>(std::size(kUsualCosts)));
  for (std::size_t i = 0; i < std::size(kUsualCosts); ++i)
    made[static_cast<learn::Index>(i)] = std::log(kUsualCosts[i]);
  return made;
}

using Step = std::function<void()>;

learn::Vector fit_costs(const std::vector<const MeasuredCycles*>& rows, double pull,
                        const Step& step) {
  const auto residuals = [&](const learn::Vector& logs) {
    step();
    learn::Vector made(static_cast<learn::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      made[static_cast<learn::Index>(i)] =
          log_cycles(rows[i]->work, logs) - std::log(rows[i]->cycles);
    return made;
  };
  const learn::Vector start = usual_costs();
  return robust_fit(residuals, start, learn::Vector::Constant(start.size(), pull), {});
}

// Misses on groups that the costs were not fitted to.
std::vector<double> held_out_misses(const std::vector<MeasuredCycles>& rows, double pull,
                                    const Step& step) {
  std::map<std::string, std::size_t> fold_of;
  for (const MeasuredCycles& row : rows) fold_of.emplace(row.group, fold_of.size() % kMostFolds);
  const std::size_t folds = std::min(fold_of.size(), kMostFolds);
  std::vector<double> misses;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<const MeasuredCycles*> others;
    for (const MeasuredCycles& row : rows)
      if (folds == 1 || fold_of.at(row.group) != fold) others.push_back(&row);
    const learn::Vector costs = fit_costs(others, pull, step);
    for (const MeasuredCycles& row : rows)
      if (fold_of.at(row.group) == fold)
        misses.push_back(std::abs(log_cycles(row.work, costs) - std::log(row.cycles)));
  }
  std::sort(misses.begin(), misses.end());
  return misses;
}

}  // namespace

learn::Index CycleModel::cost_count() {
  return static_cast<learn::Index>(std::size(kUsualCosts));
}

void CycleModel::fit(const std::vector<MeasuredCycles>& rows, const Step& step) {
  if (rows.size() < kFewestRuns)
    learn::throw_bad_data(
        "cycles need at least 20 measured rows, and there are " + std::to_string(rows.size()),
        "Give rtl_cycles of layers with their mappings.");
  double best = std::numeric_limits<double>::infinity(), chosen = kPulls[0];
  for (const double pull : kPulls) {
    const std::vector<double> misses = held_out_misses(rows, pull, step);
    double sum = 0;
    for (const double miss : misses) sum += miss;
    if (sum >= best) continue;
    best = sum, chosen = pull, misses_ = misses;
  }
  std::vector<const MeasuredCycles*> all;
  for (const MeasuredCycles& row : rows) all.push_back(&row);
  costs_ = fit_costs(all, chosen, step);
}

double CycleModel::cycles(const TiledWork& work) const {
  if (costs_.size() == 0) learn::throw_no_model("the model of cycles");
  return std::exp(log_cycles(work, costs_));
}

}  // namespace omen::power
