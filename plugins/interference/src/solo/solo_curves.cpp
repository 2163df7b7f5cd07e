// SPDX-License-Identifier: Apache-2.0
// Laws of the batch size and what they miss.
#include "solo/solo_curves.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/nnls.hpp>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

// value = start + slope * batch, or its inverse; both are at least 0 and the relative miss is
// least.
struct BatchLaw {
  double start = 0, slope = 0, miss = 0;
  bool inverse = false;

  double at(double batch) const {
    const double sum = start + slope * batch;
    return inverse ? 1 / sum : sum;
  }
};

BatchLaw fitted_law(const std::vector<double>& batch, const std::vector<double>& value,
                    bool inverse) {
  Matrix left(static_cast<Index>(batch.size()), 2);
  for (Index i = 0; i < left.rows(); ++i) {
    const double y = value[static_cast<std::size_t>(i)], target = inverse ? 1 / y : y;
    left.row(i) << 1 / target, batch[static_cast<std::size_t>(i)] / target;
  }
  const learn::NonNegative found =
      learn::non_negative_least_squares(left, Vector::Ones(left.rows()));
  return {found.weights[0], found.weights[1], found.residual, inverse};
}

}  // namespace

void SoloCurves::add(const std::string& job, double batch, double value) {
  if (!std::isfinite(batch) || !std::isfinite(value)) return;
  Measured& at = jobs_[job][batch];
  at.sum += value;
  ++at.count;
}

double SoloCurves::value_at(const Points& points, double batch) const {
  std::vector<double> sizes, logs, values;
  for (const auto& [size, measured] : points) {
    sizes.push_back(size);
    logs.push_back(std::log2(size));
    values.push_back(measured.sum / measured.count);
  }
  // Beyond the ends the law goes on, and what it misses stays.
  const double inside = std::clamp(std::log2(batch), logs.front(), logs.back());
  if (scale_ == CurveScale::kPercent)
    return make_curve(CurveMethod::kLinear, logs, values)->at(inside);
  if (scale_ == CurveScale::kPlain)
    return make_curve(CurveMethod::kPchip, logs, values)->at(inside);
  const BatchLaw grows = fitted_law(sizes, values, false), falls = fitted_law(sizes, values, true);
  const BatchLaw& law = falls.miss < grows.miss ? falls : grows;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::log(values[i] / law.at(sizes[i]));
  return law.at(batch) * std::exp(make_curve(CurveMethod::kPchip, logs, values)->at(inside));
}

std::optional<double> SoloCurves::at(const std::string& job, double batch) const {
  const auto known = jobs_.find(job);
  if (!std::isfinite(batch) || known == jobs_.end() || known->second.size() < 2)
    return std::nullopt;
  return value_at(known->second, batch);
}

bool SoloCurves::is_outside(const std::string& job, double batch) const {
  const auto known = jobs_.find(job);
  if (known == jobs_.end() || known->second.empty()) return true;
  return batch < known->second.begin()->first / 2 || batch > 2 * known->second.rbegin()->first;
}

std::vector<double> SoloCurves::left_out() const {
  std::vector<double> misses;
  for (const auto& [job, points] : jobs_) {
    if (points.size() < 3) continue;
    for (auto out = std::next(points.begin()); out != std::prev(points.end()); ++out) {
      Points rest = points;
      rest.erase(out->first);
      const double truth = out->second.sum / out->second.count, said = value_at(rest, out->first);
      misses.push_back(
          std::abs(scale_ == CurveScale::kPositive ? std::log(said / truth) : said - truth));
    }
  }
  std::sort(misses.begin(), misses.end());
  return misses;
}

}  // namespace omen::interference
