// SPDX-License-Identifier: Apache-2.0
// Fits, asks and keeps the cost model.
#include "cost/cost_predictor.hpp"

#include <cmath>
#include <omen/learn/errors.hpp>

#include "cost/answer_table.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr const char* kId = "loadbalance.cost";
constexpr double kUsualLevel = 0.9;

void warn_of_other_compilation(const KernelRows& rows, const std::string& trained) {
  if (trained.empty() || trained == "ir") return;
  for (const KernelRow& row : rows.rows)
    if (!row.compiled.empty() && row.compiled != "ir" && row.compiled != trained) {
      log(OMEN_LOG_WARN, kId,
          row.name + " was compiled as '" + row.compiled + "', the model was trained on '" +
              trained + "': expect larger errors");
      return;
    }
}

// A launch that nobody described is a usual one.
void assume_launch(KernelRows& rows) {
  constexpr double kGroup = 256, kBytes = 1 << 20;
  bool assumed = false;
  for (KernelRow& row : rows.rows) {
    assumed |= !std::isfinite(row.wgsize) || !std::isfinite(row.input_size);
    if (!std::isfinite(row.wgsize)) row.wgsize = kGroup;
    if (!std::isfinite(row.input_size)) row.input_size = kBytes;
  }
  if (assumed)
    log(OMEN_LOG_WARN, kId,
        "work-groups of 256 and an input of 1 MiB are assumed where none is given: say "
        "--wgsize N --input-size BYTES");
}

}  // namespace

const CostModel& CostPredictor::model() const {
  return learn::require_model(model_, kId);
}

void CostPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  KernelRows rows = read_kernels(train, true, run);
  // Nothing is chosen on the validation rows, so they are free to be learnt from.
  if (valid && valid.has("workloads")) append(rows, read_kernels(valid, true, run));
  CostOptions options;
  options.inputs = {options_.with_counts, options_.with_input_size};
  options.trees.rounds = options_.rounds;
  options.trees.leaves = options_.leaves;
  options.trees.eta = options_.eta;
  options.process.noise = options_.noise;
  options.with_process = options_.members == "both";
  options.inner_folds = options_.folds;
  auto next = std::make_unique<CostModel>();
  next->fit(rows, options, run.seed(), run);
  model_ = std::move(next);
}

std::optional<Calibration> CostPredictor::calibration() const {
  if (options_.calibration == "none") return std::nullopt;
  if (options_.calibration == "auto") return read_calibration(calibration_file());
  const auto given = read_calibration(options_.calibration);
  if (!given)
    throw Error(OMEN_NOT_FOUND, "there is no calibration '" + options_.calibration + "'",
                "Make one with: omen loadbalance calibrate");
  return given;
}

TableStream CostPredictor::predict(const Dataset& in, const Run& run) {
  const CostModel& model = this->model();
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualLevel;
  KernelRows rows = read_kernels(in, false, run);
  assume_launch(rows);
  warn_of_other_compilation(rows, model.compiled());
  const std::vector<CostRow> answers = model.predict(rows, level, calibration());
  AnswerColumns columns;
  columns.times = model.has_times();
  columns.level = level;
  columns.least_gain = options_.least_gain;
  columns.here = read_this_machine();
  if (columns.times && !run.output_dir().empty()) put_share_curves(run, rows, answers);
  return answer_table(rows, answers, columns);
}

void CostPredictor::observe(const Dataset& measured, const Run& run) {
  this->model();  // there must be one
  KernelRows rows = read_kernels(measured, true, run);
  assume_launch(rows);
  if (model_->observe(rows) == 0)
    throw Error(OMEN_INVALID_DATA, "no row has a graph and a measurement",
                "Give targets t_cpu_ms and t_gpu_ms in ms, or share in %.");
}

void CostPredictor::save(ArtifactWriter& out) const {
  const CostModel& model = this->model();
  out.put_meta("cost.component", kId);
  std::string machines;
  for (const std::string& machine : model.machines())
    machines += (machines.empty() ? "" : "; ") + machine;
  out.put_meta("cost.trained_on", machines);
  model.save(out);
}

void CostPredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta("cost.component"), kId);
  auto next = std::make_unique<CostModel>();
  next->load(in);
  model_ = std::move(next);
}

}  // namespace omen::loadbalance::cost
