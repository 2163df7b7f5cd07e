// SPDX-License-Identifier: Apache-2.0
// Fits, asks and keeps the constants.
#include "rate/rate_predictor.hpp"

#include <cmath>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>
#include <omen/learn/intervals.hpp>

#include "rate/setting_rows.hpp"

namespace omen::ensemble {
namespace {

constexpr const char* kId = "ensemble.rate";
constexpr const char* kComponentKey = "ensemble.component";
constexpr double kUsualLevel = 0.9;

// One predicted column with its interval; a factor either way, because errors are relative.
class CostColumn {
 public:
  CostColumn(const char* name, const char* unit, const std::vector<double>& residuals, double level)
      : name_(name), unit_(unit) {
    const double half = learn::ResidualQuantiles(residuals).half_width(level);
    factor_ = std::isfinite(half) ? std::exp(half) : 0;
  }
  void add(double value) {
    value_.push_back(value);
    low_.push_back(value / factor_);
    high_.push_back(value * factor_);
  }
  void put(TableBuilder& table, const std::vector<bool>& answered) {
    const Metadata unit = {{"omen.unit", unit_}};
    table.add(name_, std::move(value_), unit).valid(answered);
    if (factor_ == 0) return;
    table.add(std::string(name_) + ".lo", std::move(low_), unit).valid(answered);
    table.add(std::string(name_) + ".hi", std::move(high_), unit).valid(answered);
  }

 private:
  const char *name_, *unit_;
  double factor_ = 0;
  std::vector<double> value_, low_, high_;
};

// The answers to all rows, column by column.
class Answers {
 public:
  Answers(const Calibrated& model, double level)
      : model_(model),
        rate_("images_per_s", "1/s", model.rate_residuals, level),
        peak_("peak_per_s", "1/s", model.rate_residuals, level),
        epoch_("epoch_s", "s", model.rate_residuals, level),
        cpu_("cpu_s_per_image", "s", model.cpu_residuals, level),
        power_("power_w", "W", model.power_residuals, level) {}

  void add(const SettingRow& row) {
    id_.push_back(row.workload_id);
    answered_.push_back(row.refusal.empty());
    const Setting& setting = row.setting;
    const Forecast said = model_.ask(setting);
    rate_.add(said.rate);
    peak_.add(said.peak);
    epoch_.add(setting.images / said.slowest);
    idle_.push_back(said.idle_share);
    const CpuConstants cpu = model_.cpu.value_or(CpuConstants{});
    cpu_.add(cpu_per_image(cpu_terms(setting, said), cpu));
    power_.add(watts(power_terms(setting, said, cpu), model_.power.value_or(PowerConstants{})));
    status_.push_back(!row.refusal.empty()           ? row.refusal
                      : model_.extrapolates(setting) ? "extrapolating"
                                                     : "ok");
  }
  Table finish() {
    TableBuilder table;
    table.add("workload_id", std::move(id_));
    rate_.put(table, answered_);
    peak_.put(table, answered_);
    epoch_.put(table, answered_);
    table.add("idle_share", std::move(idle_), {{"omen.unit", "1"}}).valid(answered_);
    if (model_.cpu) cpu_.put(table, answered_);
    if (model_.power) power_.put(table, answered_);
    return table.add_strings("status", status_).finish();
  }

 private:
  const Calibrated& model_;
  CostColumn rate_, peak_, epoch_, cpu_, power_;
  std::vector<std::int64_t> id_;
  std::vector<double> idle_;
  std::vector<bool> answered_;
  std::vector<std::string> status_;
};

std::vector<double> numbers(const ArtifactReader& in, const char* name, std::size_t count) {
  std::vector<double> values = in.get<double>(name);
  if (values.size() != count)
    learn::throw_bad_data(std::string("the model has ") + std::to_string(values.size()) +
                              " numbers in '" + name + "' instead of " + std::to_string(count),
                          "Train it again with this version.");
  return values;
}

void require_positive(const std::vector<double>& values, const char* name) {
  for (const double value : values)
    if (!std::isfinite(value) || value < 0)
      learn::throw_bad_data(std::string("the model holds a bad number in '") + name + "'",
                            "Train it again.");
}

std::vector<double> sorted_residuals(const ArtifactReader& in, const char* name) {
  std::vector<double> values = in.get<double>(name);
  require_positive(values, name);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

void RatePredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  CalibrationOptions how;
  if (options_.sigma >= 0) how.sigma = options_.sigma;
  how.overlap = options_.overlap;
  how.folds = options_.folds;
  how.seed = run.seed();
  how.step = [&run](double done) { run.step(done, "calibrate"); };
  const auto read = [&](const Dataset& data) { return read_measured(data, run); };
  model_ = std::make_unique<Calibrated>(calibrate(learn::read_both(train, valid, read), how));
}

TableStream RatePredictor::predict(const Dataset& in, const Run& run) {
  const Calibrated& model = learn::require_model(model_, kId);
  Answers answers(model, run.interval_level() > 0 ? run.interval_level() : kUsualLevel);
  for (const SettingRow& row : read_settings(in, run)) answers.add(row);
  return answers.finish();
}

void RatePredictor::save(ArtifactWriter& out) const {
  const Calibrated& model = learn::require_model(model_, kId);
  out.put_meta(kComponentKey, kId);
  const RateConstants& r = model.rate;
  out.put("rate", std::vector<double>{r.core_rate, r.sigma, r.gather_bw, r.broadcast_bw,
                                      r.wasteful_bw, r.sharpness, model.overlap});
  std::vector<double> cpu, power, known;
  if (model.cpu) cpu = {model.cpu->prepare, model.cpu->host, model.cpu->exchange, model.cpu->train};
  if (model.power) power = {model.power->running, model.power->core, model.power->accelerator};
  for (const Known& one : model.known)
    for (const double value :
         {one.seen ? 1.0 : 0.0, one.ranks[0], one.ranks[1], one.preprocessors[0],
          one.preprocessors[1], one.cores[0], one.cores[1]})
      known.push_back(value);
  out.put("cpu", cpu);
  out.put("power", power);
  out.put("known", known);
  out.put("rate_residuals", model.rate_residuals);
  out.put("cpu_residuals", model.cpu_residuals);
  out.put("power_residuals", model.power_residuals);
}

void RatePredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta(kComponentKey), kId);
  auto next = std::make_unique<Calibrated>();
  const std::vector<double> rate = numbers(in, "rate", 7);
  require_positive(rate, "rate");
  for (const std::size_t positive : {0U, 2U, 3U, 4U, 5U})
    if (rate[positive] == 0)
      learn::throw_bad_data("the model holds a rate of 0", "Train it again.");
  next->rate = {rate[0], rate[1], rate[2], rate[3], rate[4], rate[5]};
  next->overlap = std::min(rate[6], 1.0);
  const std::vector<double> cpu = in.get<double>("cpu"), power = in.get<double>("power");
  require_positive(cpu, "cpu");
  require_positive(power, "power");
  // Models of machines whose accelerators train have no fourth constant.
  if (cpu.size() >= 3)
    next->cpu = CpuConstants{cpu[0], cpu[1], cpu[2], cpu.size() > 3 ? cpu[3] : 0};
  if (power.size() == 3) next->power = PowerConstants{power[0], power[1], power[2]};
  constexpr std::size_t kWidth = 7;
  const std::vector<double> known = numbers(in, "known", kDesignCount * kWidth);
  for (std::size_t d = 0; d < kDesignCount; ++d) {
    const double* at = &known[d * kWidth];
    next->known[d] = {at[0] > 0, {at[1], at[2]}, {at[3], at[4]}, {at[5], at[6]}};
  }
  next->rate_residuals = sorted_residuals(in, "rate_residuals");
  next->cpu_residuals = sorted_residuals(in, "cpu_residuals");
  next->power_residuals = sorted_residuals(in, "power_residuals");
  model_ = std::move(next);
}

Component rate_component() {
  return predictor<RatePredictor, RateOptions>(
             kId, "rate, CPU seconds and power of networks that share their preprocessing")
      .reads("workloads.pipeline", "workloads.n_nodes", "workloads.cores_per_node",
             "workloads.preprocessors:optional", "workloads.ranks_per_node:optional",
             "workloads.groups:optional", "workloads.pace:optional",
             "workloads.train_rate:optional", "workloads.sample_bytes:optional",
             "workloads.images:optional", "nodes@ensemble/1:optional")
      .writes("images_per_s:1/s:higher", "peak_per_s:1/s:higher", "epoch_s:s:lower",
              "idle_share:1:lower", "cpu_s_per_image:s:lower", "power_w:W:lower")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY |
            OMEN_CAP_DEFAULT)
      .cite("doi:10.1109/SC.2018.00067");
}

}  // namespace omen::ensemble
