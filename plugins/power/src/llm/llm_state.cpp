// SPDX-License-Identifier: Apache-2.0
// Keeps what was learnt, and refuses files that hold something else.
#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>

#include "llm/llm_model.hpp"

namespace omen::power {
namespace {

constexpr learn::Index kTimeWidth = 8, kPowerWidth = 5, kFeatureWidth = 5;

learn::Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const learn::Vector>(values.data(), static_cast<learn::Index>(values.size()));
}

// Quantiles of them say as much as all residuals do.
std::vector<double> thinned(const std::vector<double>& sorted) {
  constexpr std::size_t kMost = 200;
  if (sorted.size() <= kMost) return sorted;
  std::vector<double> kept;
  for (std::size_t i = 0; i < kMost; ++i)
    kept.push_back(sorted[i * (sorted.size() - 1) / (kMost - 1)]);
  return kept;
}

std::vector<double> sorted_of(const learn::StateReader& in, const std::string& name) {
  const learn::Vector values = in.numbers(name);
  std::vector<double> sorted(values.begin(), values.end());
  for (const double value : sorted)
    if (!std::isfinite(value) || value < 0)
      learn::throw_bad_data("the model holds a bad residual in '" + name + "'", "Train it again.");
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

learn::Vector logarithms(const learn::StateReader& in, const std::string& name,
                         learn::Index count) {
  learn::Vector values = in.numbers(name, count);
  if (!values.allFinite() || values.cwiseAbs().maxCoeff() > 50)
    learn::throw_bad_data("the model holds a bad number in '" + name + "'", "Train it again.");
  return values;
}

}  // namespace

void LlmModel::save(learn::StateWriter& out) const {
  out.put_strings("frameworks", frameworks_);
  out.put_numbers("time", time_);
  out.put_numbers("power", power_);
  out.put_integers("best", {static_cast<std::int64_t>(best_)});
  std::vector<double> range(measured_.low, measured_.low + Measured::kCount);
  range.insert(range.end(), measured_.high, measured_.high + Measured::kCount);
  range.push_back(measured_.experts ? 1 : 0);
  out.put_numbers("range", vector_of(range));
  out.put_numbers("time_residuals", vector_of(thinned(time_residuals_)));
  out.put_numbers("power_residuals", vector_of(thinned(power_residuals_)));
  out.put_numbers("energy_residuals", vector_of(thinned(energy_residuals_)));
  out.put_integers("observed", {correction_.count()});
  if (correction_.count() > 0) correction_.save(out, "correction");
}

void LlmModel::load(const learn::StateReader& in) {
  LlmModel next;
  next.frameworks_ = in.strings("frameworks");
  const auto wide = static_cast<learn::Index>(1 + next.frameworks_.size());
  next.time_ = logarithms(in, "time", kTimeWidth * wide);
  next.power_ = logarithms(in, "power", kPowerWidth * wide);
  const std::vector<std::int64_t> best = in.integers("best");
  if (best.size() != 1 || best[0] < 0 ||
      best[0] >= static_cast<std::int64_t>(next.frameworks_.size()))
    learn::throw_bad_data("the model names software that it does not hold", "Train it again.");
  next.best_ = static_cast<std::size_t>(best[0]);
  const learn::Vector range = in.numbers("range", 2 * Measured::kCount + 1);
  for (std::size_t i = 0; i < Measured::kCount; ++i) {
    next.measured_.low[i] = range[static_cast<learn::Index>(i)];
    next.measured_.high[i] = range[static_cast<learn::Index>(Measured::kCount + i)];
  }
  next.measured_.experts = range[2 * Measured::kCount] > 0;
  next.time_residuals_ = sorted_of(in, "time_residuals");
  next.power_residuals_ = sorted_of(in, "power_residuals");
  next.energy_residuals_ = sorted_of(in, "energy_residuals");
  next.correction_ = blank_correction();
  const std::vector<std::int64_t> observed = in.integers("observed");
  if (observed.size() == 1 && observed[0] > 0)
    next.correction_.load(in, "correction", kFeatureWidth, 2);
  *this = std::move(next);
}

}  // namespace omen::power
