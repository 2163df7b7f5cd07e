// SPDX-License-Identifier: Apache-2.0
// A tree of the sizes of misses, and their quotients on nets that were held back.
#include "learned/error_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <omen/learn/errors.hpp>
#include <omen/median.hpp>

#include "nets/block_features.hpp"

namespace omen::power {
namespace {

constexpr learn::DecisionTreeOptions kTree = {5, 60};
// A miss of zero has no logarithm; below this nobody cares.
constexpr double kLeastMiss = 1e-4;
// How strongly widths follow the sizes; above 1 the sure rows get narrower at the cost of the
// others.
constexpr double kExponents[] = {0, 0.5, 1, 1.5, 2, 2.5};
constexpr double kJudgedLevel = 0.9;
constexpr std::size_t kMostRatios = 200;

std::size_t input_count() {
  return hardware_width() + kCosts + kBlockFeatures;
}

std::vector<double> ratios_of(const std::vector<double>& miss, const std::vector<double>& size,
                              double exponent) {
  std::vector<double> made;
  for (std::size_t i = 0; i < miss.size(); ++i)
    made.push_back(miss[i] / std::pow(size[i], exponent));
  std::sort(made.begin(), made.end());
  return made;
}

// The exponent whose intervals are narrowest for the row in the middle.
double best_exponent(const std::vector<double>& miss, const std::vector<double>& size) {
  double best = 1, narrowest = std::numeric_limits<double>::infinity();
  for (const double exponent : kExponents) {
    const double factor =
        learn::ResidualQuantiles(ratios_of(miss, size, exponent)).half_width(kJudgedLevel);
    const double width = factor * std::pow(median(size), exponent);
    if (width >= narrowest) continue;
    narrowest = width;
    best = exponent;
  }
  return best;
}

}  // namespace

learn::Vector scale_inputs(const LearnedRow& row, const LearnedNet& net,
                           const double (&said)[kCosts]) {
  learn::Vector made = learn::Vector::Zero(static_cast<learn::Index>(input_count()));
  learn::Index at = 0;
  for (const float number : row.hardware) made(at++) = number;
  for (const double cost : said) made(at++) = cost;
  for (std::size_t i = 0; i < net.features.size(); ++i)
    made(at + static_cast<learn::Index>(i % kBlockFeatures)) +=
        static_cast<double>(net.features[i]) / static_cast<double>(net.layers());
  return made;
}

void ErrorScale::fit(const Misses& learnt, const Misses& held_back) {
  learn::Matrix x(static_cast<learn::Index>(learnt.miss.size()),
                  static_cast<learn::Index>(input_count()));
  learn::Vector y(static_cast<learn::Index>(learnt.miss.size()));
  for (std::size_t i = 0; i < learnt.miss.size(); ++i) {
    x.row(static_cast<learn::Index>(i)) = learnt.inputs[i];
    y(static_cast<learn::Index>(i)) = std::log(std::max(learnt.miss[i], kLeastMiss));
  }
  tree_.fit(x, y, 0, kTree);
  exponent_ = 1;
  const auto sizes = [this](const Misses& of) {
    std::vector<double> made;
    for (const learn::Vector& inputs : of.inputs) made.push_back(size(inputs));
    return made;
  };
  exponent_ = best_exponent(learnt.miss, sizes(learnt));
  const std::vector<double> all = ratios_of(held_back.miss, sizes(held_back), exponent_);
  // A few hundred ranks say as much about a quantile as thousands.
  std::vector<double> thin;
  const std::size_t most = std::min(all.size(), kMostRatios);
  for (std::size_t i = 0; i < most; ++i)
    thin.push_back(all[most == 1 ? 0 : i * (all.size() - 1) / (most - 1)]);
  ratios_ = learn::ResidualQuantiles(std::move(thin));
}

double ErrorScale::size(const learn::Vector& inputs) const {
  return std::exp(tree_.predict(inputs)(0));
}

double ErrorScale::half_width(double level, const learn::Vector& inputs) const {
  return ratios_.half_width(level) * std::pow(size(inputs), exponent_);
}

void ErrorScale::save(learn::StateWriter& out, const std::string& name) const {
  tree_.save(out, name);
  const std::vector<double>& ratios = ratios_.sorted();
  learn::Vector numbers(static_cast<learn::Index>(ratios.size() + 1));
  numbers(0) = exponent_;
  for (std::size_t i = 0; i < ratios.size(); ++i)
    numbers(static_cast<learn::Index>(i + 1)) = ratios[i];
  out.put_numbers(name + ".ratios", numbers);
}

void ErrorScale::load(const learn::StateReader& in, const std::string& name) {
  tree_.load(in, name, static_cast<learn::Index>(input_count()), 0);
  const learn::Vector numbers = in.numbers(name + ".ratios");
  if (numbers.size() < 2 || !numbers.allFinite())
    learn::throw_bad_data("the model has no intervals", "Train it again.");
  exponent_ = numbers(0);
  std::vector<double> ratios;
  for (learn::Index i = 1; i < numbers.size(); ++i) ratios.push_back(numbers(i));
  ratios_ = learn::ResidualQuantiles(std::move(ratios));
}

}  // namespace omen::power
