// SPDX-License-Identifier: Apache-2.0
// Parity and errors.
#include "learned/training_plots.hpp"

#include <algorithm>
#include <cmath>
#include <omen/figure.hpp>
#include <omen/host.hpp>

namespace omen::power {
namespace {

constexpr std::size_t kMostParityPoints = 2000;  // more cannot be told apart
constexpr std::size_t kErrorSteps = 100;
constexpr const char* kCostUnits[kCosts] = {"W", "W", "s"};

Figure parity(const std::vector<double>& said, const LearnedRows& rows,
              const std::vector<std::size_t>& chosen, std::size_t cost) {
  std::vector<double> truth, answer;
  const std::size_t stride = 1 + chosen.size() / kMostParityPoints;
  for (std::size_t i = 0; i < chosen.size(); i += stride) {
    truth.push_back(std::exp(rows.rows[chosen[i]].cost[cost]));
    answer.push_back(std::exp(said[chosen[i]]));
  }
  Figure figure;
  figure.x_axis(FigureAxis(std::string("true ") + kCostNames[cost], kCostUnits[cost]).logarithmic())
      .y_axis(
          FigureAxis(std::string("predicted ") + kCostNames[cost], kCostUnits[cost]).logarithmic());
  const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
  const std::vector<double> ends = {*low, *high};
  for (const double off : {0.9, 1.0, 1.1})
    figure.lines(off == 1  ? "equal"
                 : off < 1 ? "10 % below"
                           : "10 % above",
                 ends, {off * *low, off * *high});
  figure.markers("rows held out", truth, answer).marker_size(4);
  return figure;
}

}  // namespace

void plot_answers(const Run& run, const std::vector<std::vector<double>>& said,
                  const LearnedRows& rows, const std::vector<std::size_t>& chosen) {
  if (run.output_dir().empty() || chosen.empty()) return;
  Figure errors;
  errors.x_axis(FigureAxis("error is at most", "%").logarithmic())
      .y_axis(FigureAxis("rows held out", "%").from_zero());
  for (std::size_t c = 0; c < kCosts; ++c) {
    put_figure(run, std::string("parity_") + kCostNames[c],
               parity(said[c], rows, chosen, c).json());
    std::vector<double> misses, most, part;
    for (const std::size_t row : chosen)
      misses.push_back(100 * std::abs(std::expm1(said[c][row] - rows.rows[row].cost[c])));
    std::sort(misses.begin(), misses.end());
    for (std::size_t i = 1; i <= kErrorSteps; ++i) {
      most.push_back(std::max(misses[(misses.size() - 1) * i / kErrorSteps], 1e-3));
      part.push_back(100.0 * static_cast<double>(i) / static_cast<double>(kErrorSteps));
    }
    errors.lines(kCostNames[c], most, part);
  }
  put_figure(run, "errors", errors.json());
}

}  // namespace omen::power
