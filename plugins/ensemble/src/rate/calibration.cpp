// SPDX-License-Identifier: Apache-2.0
// Rates by simplex search over logarithms, CPU and power by non-negative least squares.
#include "rate/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>
#include <omen/learn/folds.hpp>
#include <omen/learn/nnls.hpp>
#include <omen/median.hpp>

#include "rate/minimise.hpp"

namespace omen::ensemble {
namespace {

using Rows = std::vector<const Measured*>;

bool is_cost(double value) {
  return std::isfinite(value) && value > 0;
}

// The constants as the logarithms that are searched over; what is known is not among them.
struct Search {
  RateConstants start;
  std::optional<double> sigma;

  std::vector<double> place() const {
    std::vector<double> at;
    for (const double value :
         {start.core_rate, start.gather_bw, start.broadcast_bw, start.wasteful_bw, start.sharpness})
      at.push_back(std::log(value));
    if (!sigma) at.push_back(std::log(start.sigma));
    return at;
  }
  RateConstants constants(const std::vector<double>& at) const {
    RateConstants made;
    const auto value = [&](std::size_t i) { return std::exp(std::clamp(at[i], -60.0, 60.0)); };
    made.core_rate = value(0);
    made.gather_bw = value(1);
    made.broadcast_bw = value(2);
    made.wasteful_bw = value(3);
    made.sharpness = std::clamp(value(4), 0.5, 64.0);
    made.sigma = sigma ? *sigma : std::min(value(5), 10.0);
    return made;
  }
};

double mean_error(const Rows& rows, const RateConstants& constants, const CpuConstants& cpu,
                  double overlap) {
  double sum = 0;
  for (const Measured* row : rows)
    sum += std::abs(forecast(row->setting, constants, cpu, overlap).rate / row->rate - 1);
  return sum / static_cast<double>(rows.size());
}

Rows with_rate(const Rows& rows) {
  Rows some;
  for (const Measured* row : rows)
    if (is_cost(row->rate)) some.push_back(row);
  return some;
}

// A core's rate from the rows themselves, so that any unit of work can be calibrated.
RateConstants start_near(const Rows& rows) {
  RateConstants start;
  std::vector<double> cores, highest;
  for (const Measured* row : rows) {
    const bool shared = row->setting.design == Design::kAllShared;
    cores.push_back(row->rate / row->setting.cores / (shared ? row->setting.ranks : 1));
    highest.push_back(row->rate * row->setting.sample_bytes);
  }
  start.core_rate = median(cores) * 2;
  start.gather_bw = *std::max_element(highest.begin(), highest.end());
  start.broadcast_bw = start.gather_bw * 4;
  start.wasteful_bw = start.gather_bw * 8;
  return start;
}

RateConstants fit_rate(const Rows& rows, const CalibrationOptions& options,
                       const CpuConstants& cpu) {
  // Holds constants that no row depends on where they are.
  constexpr double kTether = 1e-6;
  const Search search{start_near(rows), options.sigma};
  const std::vector<double> start = search.place();
  const auto cost = [&](const std::vector<double>& at) {
    double away = 0;
    for (std::size_t i = 0; i < at.size(); ++i) away += (at[i] - start[i]) * (at[i] - start[i]);
    return mean_error(rows, search.constants(at), cpu, options.overlap) + kTether * away;
  };
  return search.constants(minimise(cost, start, 0.5));
}

// Costs that are sums of a few terms, each with its constant.
template <std::size_t N>
class LinearCosts {
 public:
  void add(const std::array<double, N>& terms, double cost) {
    if (!is_cost(cost)) return;
    terms_.push_back(terms);
    costs_.push_back(cost);
  }
  // Weights w >= 0 with terms . w near the costs, in relative terms; nothing without a row.
  std::optional<learn::Vector> weights() const {
    if (costs_.empty()) return std::nullopt;
    const auto rows = static_cast<learn::Index>(costs_.size());
    learn::Matrix a(rows, static_cast<learn::Index>(N));
    for (std::size_t i = 0; i < costs_.size(); ++i)
      for (std::size_t j = 0; j < N; ++j)
        a(static_cast<learn::Index>(i), static_cast<learn::Index>(j)) = terms_[i][j] / costs_[i];
    return learn::non_negative_least_squares(a, learn::Vector::Ones(rows)).weights;
  }

 private:
  std::vector<std::array<double, N>> terms_;
  std::vector<double> costs_;
};

// Without clocks training is host cores, as on a machine whose accelerators train.
std::optional<CpuConstants> fit_cpu(const Rows& rows, const Calibrated& model) {
  LinearCosts<4> costs;
  for (const Measured* row : rows) {
    const CpuTerms one = cpu_terms(row->setting, model.ask(row->setting));
    if (is_cost(row->prepare_cpu) && is_cost(row->train_cpu)) {
      costs.add({one.prepare, 0, 0, 0}, row->prepare_cpu);
      costs.add({0, 0, 0, one.train}, row->train_cpu);
      costs.add({0, one.host, one.exchange, 0}, row->cpu - row->prepare_cpu - row->train_cpu);
    } else {
      costs.add({one.prepare, one.host, one.exchange, 0}, row->cpu);
    }
  }
  const auto weights = costs.weights();
  if (!weights) return std::nullopt;
  return CpuConstants{(*weights)[0], (*weights)[1], (*weights)[2], (*weights)[3]};
}

std::optional<PowerConstants> fit_power(const Rows& rows, const Calibrated& model) {
  LinearCosts<3> costs;
  for (const Measured* row : rows) {
    const PowerTerms one =
        power_terms(row->setting, model.ask(row->setting), model.cpu.value_or(CpuConstants{}));
    costs.add({one.running, one.busy_cores, one.busy_accelerators}, row->power);
  }
  const auto weights = costs.weights();
  if (!weights) return std::nullopt;
  return PowerConstants{(*weights)[0], (*weights)[1], (*weights)[2]};
}

void widen(double (&range)[2], double value, bool first) {
  range[0] = first ? value : std::min(range[0], value);
  range[1] = first ? value : std::max(range[1], value);
}

std::array<Known, kDesignCount> known_of(const Rows& rows) {
  std::array<Known, kDesignCount> all;
  for (const Measured* row : rows) {
    Known& known = all[static_cast<std::size_t>(row->setting.design)];
    widen(known.ranks, row->setting.ranks, !known.seen);
    widen(known.preprocessors, row->setting.preprocessors, !known.seen);
    widen(known.cores, row->setting.cores, !known.seen);
    known.seen = true;
  }
  return all;
}

Calibrated fit_constants(const Rows& rows, const CalibrationOptions& options) {
  const Rows rated = with_rate(rows);
  if (rated.empty())
    learn::throw_bad_data("no row has a measured rate above 0",
                          "Give a target images_per_s, the rate of each model.");
  Calibrated model;
  model.overlap = options.overlap;
  model.rate = fit_rate(rated, options, {});
  model.cpu = fit_cpu(rows, model);
  // The cores that a training needs bound its rate, and come out of the CPU seconds.
  if (model.cpu && (model.cpu->host > 0 || model.cpu->train > 0)) {
    model.rate = fit_rate(rated, options, *model.cpu);
    model.cpu = fit_cpu(rows, model);
  }
  model.power = fit_power(rows, model);
  model.known = known_of(rated);
  return model;
}

void add_residual(std::vector<double>& list, double measured, double predicted) {
  if (is_cost(measured) && is_cost(predicted))
    list.push_back(std::abs(std::log(measured / predicted)));
}

void add_residuals(Calibrated& to, const Calibrated& model, const Measured& row) {
  const Forecast said = model.ask(row.setting);
  add_residual(to.rate_residuals, row.rate, said.rate);
  if (!model.cpu) return;
  add_residual(to.cpu_residuals, row.cpu, cpu_per_image(cpu_terms(row.setting, said), *model.cpu));
  if (!model.power) return;
  add_residual(to.power_residuals, row.power,
               watts(power_terms(row.setting, said, *model.cpu), *model.power));
}

// Each fold is answered by a fit that has not seen it; where there are too few rows, by all.
void measure_residuals(Calibrated& model, const Rows& rows, const CalibrationOptions& options) {
  std::vector<std::int32_t> groups;
  for (const Measured* row : rows) groups.push_back(row->group);
  const learn::Folds folds = learn::make_folds(static_cast<learn::Index>(rows.size()), groups,
                                               options.folds, options.seed);
  for (int fold = 0; fold < folds.count; ++fold) {
    if (options.step) options.step(static_cast<double>(fold + 1) / (folds.count + 1));
    Rows train;
    for (const learn::Index row : folds.training_rows(fold))
      train.push_back(rows[static_cast<std::size_t>(row)]);
    if (with_rate(train).empty()) continue;
    const Calibrated part = fit_constants(train, options);
    for (const learn::Index row : folds.held_out_rows(fold))
      add_residuals(model, part, *rows[static_cast<std::size_t>(row)]);
  }
  if (model.rate_residuals.empty())
    for (const Measured* row : rows) add_residuals(model, model, *row);
  for (auto* list : {&model.rate_residuals, &model.cpu_residuals, &model.power_residuals})
    std::sort(list->begin(), list->end());
}

bool outside(double value, const double (&range)[2]) {
  return value < range[0] || value > range[1];
}

}  // namespace

Forecast Calibrated::ask(const Setting& setting) const {
  return forecast(setting, rate, cpu.value_or(CpuConstants{}), overlap);
}

bool Calibrated::extrapolates(const Setting& setting) const {
  const Known& seen = known[static_cast<std::size_t>(setting.design)];
  if (!seen.seen || outside(setting.cores, seen.cores)) return true;
  // Without sharing the ranks do not meet.
  if (setting.design == Design::kNone) return false;
  return outside(setting.ranks, seen.ranks) ||
         (has_preprocessors(setting.design) && outside(setting.preprocessors, seen.preprocessors));
}

Calibrated calibrate(const std::vector<Measured>& rows, const CalibrationOptions& options) {
  Rows all;
  for (const Measured& row : rows) all.push_back(&row);
  if (options.step) options.step(0);
  Calibrated model = fit_constants(all, options);
  measure_residuals(model, all, options);
  return model;
}

double mean_rate_error(const Calibrated& model, const std::vector<Measured>& rows) {
  double sum = 0, count = 0;
  for (const Measured& row : rows) {
    if (!is_cost(row.rate)) continue;
    sum += std::abs(model.ask(row.setting).rate / row.rate - 1);
    ++count;
  }
  return sum / count;
}

}  // namespace omen::ensemble
