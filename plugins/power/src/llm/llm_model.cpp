// SPDX-License-Identifier: Apache-2.0
// Fits the logarithms of efficiencies: shared ones, and how each framework differs from them.
#include "llm/llm_model.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <omen/learn/errors.hpp>
#include <omen/learn/folds.hpp>
#include <omen/learn/intervals.hpp>

#include "llm/robust_fit.hpp"

namespace omen::power {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

// One parameter of a closed form: where it starts, and how firmly it and the deviations of
// frameworks are held there.
struct Parameter {
  double start, hold, hold_deviation;
};
// In the order of Efficiency. The memory of a GPU is what frameworks can change least.
constexpr Parameter kTime[] = {{0.5, 0.5, 0.75}, {0.85, 1.5, 2.5}, {0.05, 0.25, 0.35},
                               {3, 0.5, 1000},   {50, 0.25, 0.35}, {40, 0.25, 0.35},
                               {60, 0.25, 0.35}, {5, 0.15, 0.25}};
// base, compute, weights, cache; and the factor, which only frameworks have.
constexpr Parameter kPower[] = {
    {0.15, 0.15, 1000}, {1, 0.15, 1000}, {0.6, 0.15, 1000}, {1.2, 0.15, 1000}, {1, 1000, 0.3}};
constexpr Index kTimeCount = std::size(kTime), kPowerCount = std::size(kPower);
constexpr double kRobustScale = 0.1;
// What a correction is drawn from: measurements of one machine have much in common.
constexpr learn::CorrectionScales kCorrection = {0.08, 0.02, 0.004, 1.0};

Vector starts_of(const Parameter* table, Index count, std::size_t frameworks) {
  Vector start = Vector::Zero(count * static_cast<Index>(1 + frameworks));
  for (Index p = 0; p < count; ++p) start[p] = std::log(table[p].start);
  return start;
}

Vector holds_of(const Parameter* table, Index count, std::size_t frameworks, bool core_only) {
  Vector hold(count * static_cast<Index>(1 + frameworks));
  for (Index i = 0; i < hold.size(); ++i) {
    const Parameter& of = table[i % count];
    hold[i] = i < count ? of.hold : core_only ? 1000 : of.hold_deviation;
  }
  return hold;
}

double parameter_at(const Vector& all, Index count, Index which, std::size_t framework) {
  return std::exp(all[which] + all[count * static_cast<Index>(1 + framework) + which]);
}

Efficiency efficiency_at(const Vector& all, std::size_t framework) {
  const auto at = [&](Index p) { return parameter_at(all, kTimeCount, p, framework); };
  return {at(0), at(1), at(2), 1 + at(3), at(4), at(5), at(6), at(7)};
}

PowerShape power_at(const Vector& all, std::size_t framework) {
  const auto at = [&](Index p) { return parameter_at(all, kPowerCount, p, framework); };
  return {at(0), at(1), at(2), at(3), at(4)};
}

double seconds_of(const Serving& s, const Efficiency& e) {
  const Passes passes = passes_of(s, e);
  return passes.waves * (passes.prefill.seconds + s.output * passes.step.seconds);
}

// Mean watts of a static batch. Passes take as long as predicted, also while shapes are learnt:
// watts are asked for where no time is known, so that both errors may cancel in the joules.
double mean_watts(const Serving& s, const Passes& passes, const PowerShape& shape) {
  const double prefill = passes.prefill.seconds, step = passes.step.seconds;
  return (watts_of(s, passes.prefill, prefill, shape) * prefill +
          watts_of(s, passes.step, step, shape) * step * s.output) /
         (prefill + step * s.output);
}

Vector features_of(const Serving& s) {
  Vector row(5);
  row << std::log(s.batch) / 2, std::log(s.input + s.output + 1) / 2,
      std::log(s.model.active * s.weight_bytes / s.gpus) / 2, std::log(s.gpu.bandwidth),
      s.model.has_experts() ? 1 : 0;
  return row;
}

double sorted_width(const std::vector<double>& sorted, double level) {
  const double width = learn::ResidualQuantiles(sorted).half_width(level);
  return std::isfinite(width) ? width : 1;
}

bool is_measured(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

learn::CorrectionScales correction_scales() {
  return kCorrection;
}

learn::Correction blank_correction() {
  return learn::Correction(kCorrection);
}

std::string normalised_framework(const std::string& name) {
  std::string made;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return made;
}

Measured::Measured() {
  std::fill(std::begin(low), std::end(low), INFINITY);
  std::fill(std::begin(high), std::end(high), -INFINITY);
}

namespace {
std::vector<double> ranged(const Serving& s) {
  return {s.model.parameters,      s.gpus,      s.batch,         s.input,
          std::max(s.output, 1.0), s.gpu.flops, s.gpu.bandwidth, s.gpu.tdp};
}
}  // namespace

void Measured::add(const Serving& s) {
  const std::vector<double> values = ranged(s);
  for (std::size_t i = 0; i < kCount; ++i) {
    low[i] = std::min(low[i], values[i]);
    high[i] = std::max(high[i], values[i]);
  }
  experts = experts || s.model.has_experts();
}

bool Measured::holds(const Serving& s) const {
  constexpr double kMargin = 1.1;
  const std::vector<double> values = ranged(s);
  for (std::size_t i = 0; i < kCount; ++i)
    if (values[i] > high[i] * kMargin || values[i] < low[i] / kMargin) return false;
  return experts || !s.model.has_experts();
}

void LlmModel::fit_time(const std::vector<MeasuredRun>& all, const LlmFitOptions& options) {
  std::vector<const MeasuredRun*> runs;
  std::vector<std::size_t> framework;
  for (const MeasuredRun& run : all) {
    if (!is_measured(run.seconds)) continue;
    bool known = false;
    runs.push_back(&run);
    framework.push_back(framework_of(run.serving, known));
  }
  const auto residuals = [&](const Vector& x) {
    std::vector<Efficiency> of;
    for (std::size_t f = 0; f < frameworks_.size(); ++f) of.push_back(efficiency_at(x, f));
    Vector r(static_cast<Index>(runs.size()));
    for (std::size_t i = 0; i < runs.size(); ++i)
      r[static_cast<Index>(i)] =
          runs[i]->trust *
          std::log(seconds_of(runs[i]->serving, of[framework[i]]) / runs[i]->seconds);
    return r;
  };
  RobustFitOptions how;
  how.scale = kRobustScale;
  how.step = options.step;
  time_ = robust_fit(residuals, starts_of(kTime, kTimeCount, frameworks_.size()),
                     holds_of(kTime, kTimeCount, frameworks_.size(), options.core_only), how);
}

void LlmModel::fit_power(const std::vector<MeasuredRun>& all, const LlmFitOptions& options) {
  struct Row {
    const MeasuredRun* run;
    std::size_t framework;
    Passes passes;
  };
  std::vector<Row> rows;
  for (const MeasuredRun& run : all) {
    if (!is_measured(run.watts)) continue;
    bool known = false;
    const std::size_t framework = framework_of(run.serving, known);
    const Efficiency e = efficiency_at(time_, framework);
    rows.push_back({&run, framework, passes_of(run.serving, e)});
  }
  const auto residuals = [&](const Vector& x) {
    std::vector<PowerShape> of;
    for (std::size_t f = 0; f < frameworks_.size(); ++f) of.push_back(power_at(x, f));
    Vector r(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const double said = mean_watts(row.run->serving, row.passes, of[row.framework]);
      r[static_cast<Index>(i)] = row.run->trust * std::log(said / row.run->watts);
    }
    return r;
  };
  RobustFitOptions how;
  how.scale = kRobustScale;
  how.step = options.step;
  power_ = robust_fit(residuals, starts_of(kPower, kPowerCount, frameworks_.size()),
                      holds_of(kPower, kPowerCount, frameworks_.size(), options.core_only), how);
}

void LlmModel::choose_best() {
  // A usual question, so that one number says which software wastes least.
  Serving usual;
  usual.model = {8e9, 8e9, 32, 4096, 131072, 0, 0};
  usual.gpu = {"", 1e15, 3.35e12, 80e9, 9e11, 700, 80};
  usual.batch = 32, usual.input = 1024, usual.output = 512;
  best_ = 0;
  for (std::size_t f = 1; f < frameworks_.size(); ++f)
    if (seconds_of(usual, efficiency_at(time_, f)) < seconds_of(usual, efficiency_at(time_, best_)))
      best_ = f;
}

void LlmModel::fit(const std::vector<MeasuredRun>& runs, const LlmFitOptions& options) {
  LlmModel next;
  std::map<std::string, int> names;
  std::int32_t groups = 0;
  for (const MeasuredRun& run : runs) {
    names.emplace(normalised_framework(run.serving.framework), 0);
    if (is_measured(run.seconds)) next.measured_.add(run.serving);
    groups = std::max(groups, run.group + 1);
  }
  for (const auto& [name, unused] : names) next.frameworks_.push_back(name);
  if (runs.size() < 8)
    learn::throw_bad_data(
        "power.llm needs at least 8 measured runs, and there are " + std::to_string(runs.size()),
        "Give rows with time_s, and with power_w where it was measured.");
  next.fit_time(runs, options);
  next.fit_power(runs, options);
  next.choose_best();
  if (options.folds > 1) {
    std::vector<std::int32_t> group;
    for (const MeasuredRun& run : runs) group.push_back(run.group);
    const learn::Folds folds =
        learn::make_folds(static_cast<Index>(runs.size()), group, options.folds, options.seed);
    for (int fold = 0; fold < folds.count; ++fold) {
      std::vector<MeasuredRun> rest;
      for (const Index row : folds.training_rows(fold))
        rest.push_back(runs[static_cast<std::size_t>(row)]);
      LlmModel blind;
      blind.frameworks_ = next.frameworks_;
      blind.fit_time(rest, options);
      blind.fit_power(rest, options);
      for (const Index row : folds.held_out_rows(fold)) {
        const MeasuredRun& run = runs[static_cast<std::size_t>(row)];
        const Forecast said = blind.ask(run.serving);
        const double time = std::log(said.seconds / run.seconds),
                     power = std::log(said.watts / run.watts);
        if (is_measured(run.seconds)) next.time_residuals_.push_back(std::abs(time));
        if (is_measured(run.watts)) next.power_residuals_.push_back(std::abs(power));
        if (is_measured(run.seconds) && is_measured(run.watts))
          next.energy_residuals_.push_back(std::abs(time + power));
      }
    }
  }
  for (auto* sorted : {&next.time_residuals_, &next.power_residuals_, &next.energy_residuals_})
    std::sort(sorted->begin(), sorted->end());
  next.correction_ = blank_correction();
  *this = std::move(next);
}

void LlmModel::observe(const std::vector<MeasuredRun>& runs) {
  std::vector<const MeasuredRun*> useful;
  for (const MeasuredRun& run : runs)
    if (is_measured(run.seconds) || is_measured(run.watts)) useful.push_back(&run);
  if (useful.empty())
    learn::throw_bad_data("no row says what was measured",
                          "Give columns time_s and power_w, in s and W.");
  Matrix rows(static_cast<Index>(useful.size()), 5),
      residuals(static_cast<Index>(useful.size()), 2);
  LlmModel bare = *this;
  bare.correction_ = blank_correction();
  for (std::size_t i = 0; i < useful.size(); ++i) {
    const MeasuredRun& run = *useful[i];
    const auto at = static_cast<Index>(i);
    const Forecast said = bare.ask(run.serving);
    rows.row(at) = features_of(run.serving).transpose();
    residuals(at, 0) = is_measured(run.seconds) ? std::log(run.seconds / said.seconds) : 0;
    residuals(at, 1) = is_measured(run.watts) ? std::log(run.watts / said.watts) : 0;
  }
  correction_.add(rows, residuals);
}

std::size_t LlmModel::framework_of(const Serving& serving, bool& known) const {
  const auto at =
      std::find(frameworks_.begin(), frameworks_.end(), normalised_framework(serving.framework));
  known = at != frameworks_.end();
  return known ? static_cast<std::size_t>(at - frameworks_.begin()) : best_;
}

Efficiency LlmModel::efficiency(const Serving& serving) const {
  bool known = false;
  return efficiency_at(time_, framework_of(serving, known));
}

PowerShape LlmModel::power_shape(const Serving& serving) const {
  bool known = false;
  return power_at(power_, framework_of(serving, known));
}

Corrections LlmModel::corrections(const Serving& serving) const {
  if (correction_.count() == 0) return {};
  Matrix row = features_of(serving).transpose();
  const Matrix added = correction_.of(row);
  return {std::exp(added(0, 0)), std::exp(added(0, 1))};
}

Forecast LlmModel::ask(const Serving& serving) const {
  return forecast_of(serving, efficiency(serving), power_shape(serving), corrections(serving));
}

bool LlmModel::extrapolates(const Serving& serving) const {
  bool known = false;
  framework_of(serving, known);
  // No run under a power cap, at other widths than 16 bits or with changing batches was measured.
  const bool usual = serving.weight_bytes == 2 && serving.batching == Batching::kStatic &&
                     !(serving.cap > 0 && serving.cap < serving.gpu.tdp);
  return !(known && usual && measured_.holds(serving));
}

double LlmModel::time_width(double level) const {
  return sorted_width(time_residuals_, level);
}
double LlmModel::power_width(double level) const {
  return sorted_width(power_residuals_, level);
}
double LlmModel::energy_width(double level) const {
  return sorted_width(energy_residuals_, level);
}

}  // namespace omen::power
