// SPDX-License-Identifier: Apache-2.0
// Fits, asks, corrects and keeps the model of steps.
#include "step/step_predictor.hpp"

#include <omen/tables.h>
#include <cmath>
#include <filesystem>
#include <map>
#include <omen/container.hpp>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>
#include <optional>

#include "step/memory.hpp"
#include "step/step_rows.hpp"

namespace omen::driple {
namespace {

constexpr const char* kId = "driple.step";
constexpr const char* kComponentKey = "driple.component";
constexpr const char* kTarget = "step_ms";
constexpr const char* kIdle = "gpu_idle_pct";
constexpr const char* kBurst = "gpu_burst_pct";
constexpr const char* kPeak = "gpu_peak_pct";
constexpr double kUsualLevel = 0.9;
constexpr double kMilli = 1e3, kPercent = 100;

// Of the plugin, where it was built with them; a model of operators that know nothing otherwise.
OperatorModel shipped_operators(const std::string& named) {
  const std::string path = named.empty() ? plugin_dir() + "/data/operators.safetensors" : named;
  OperatorModel operators;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (!named.empty())
      throw Error(OMEN_IO, "operators '" + named + "' do not exist",
                  "Make them with driple_fit_operators, or leave the option out.");
    return operators;
  }
  const container::Reader reader = container::Reader::open(path);
  operators.load(learn::ArtifactSource(ArtifactReader(reader.source())));
  return operators;
}

JobRow job_row(const StepRow& row, const OperatorModel& operators) {
  JobRow made;
  made.device = *row.device;
  made.costs = job_costs(row.job, made.device, operators);
  made.framework = row.framework;
  made.seconds = row.seconds;
  made.group = row.group;
  return made;
}

// Of the GPU, over the whole job: nothing where the job has no known length or does not train.
std::optional<UseRow> use_row(const StepRow& row, const JobRow& job, double step) {
  if (!(row.steps > 0) || row.job.facts.mode != opgraph::Mode::train) return std::nullopt;
  UseRow use;
  use.step = step;
  use.steps = row.steps;
  use.kernels = job.costs.kernels;
  use.framework = row.framework;
  use.group = row.group;
  return use;
}

std::map<std::int64_t, double> target_values(const Table& targets, const char* name) {
  std::map<std::int64_t, double> value_of;
  if (!targets.has(name)) return value_of;
  const auto ids = targets.column<std::int64_t>(OMEN_COLUMN_WORKLOAD_ID);
  const std::vector<double> values = targets.numbers(name);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) value_of[ids[static_cast<std::int64_t>(i)]] = values[i];
  return value_of;
}

double share_of(double percent, const char* column) {
  if (percent < 0 || percent > kPercent)
    throw Error(OMEN_INVALID_DATA, std::string(column) + " holds a number that is no percentage",
                "Give shares of the job from 0 to 100.");
  return percent / kPercent;
}

struct Measured {
  std::vector<JobRow> jobs;
  std::vector<UseRow> use;
};
Measured joined(Measured first, Measured second) {
  first.jobs.insert(first.jobs.end(), second.jobs.begin(), second.jobs.end());
  first.use.insert(first.use.end(), second.use.begin(), second.use.end());
  return first;
}

// Rows with a device and a measured time.
Measured measured_rows(const Dataset& data, const OperatorModel& operators, const Run& run) {
  std::vector<StepRow> rows = read_step_rows(data);
  const Table targets = data.table(OMEN_TABLE_TARGETS);
  if (!targets.has(kTarget))
    throw Error(OMEN_INVALID_DATA, "driple.step learns from the target step_ms, and there is none",
                "Train with --target step_ms:ms:lower.");
  const auto time_of = target_values(targets, kTarget), idle_of = target_values(targets, kIdle),
             peak_of = target_values(targets, kPeak);
  Measured measured;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    run.step(static_cast<double>(r) / static_cast<double>(rows.size()), "graphs");
    const std::int64_t id = rows[r].workload_id;
    const auto found = time_of.find(id);
    if (!rows[r].device || found == time_of.end() || !(found->second > 0)) continue;
    rows[r].seconds = found->second / kMilli;
    JobRow row = job_row(rows[r], operators);
    if (!(row.costs.total() > 0)) continue;
    std::optional<UseRow> use = use_row(rows[r], row, row.seconds);
    if (use && idle_of.count(id) > 0 && peak_of.count(id) > 0) {
      use->idle = share_of(idle_of.at(id), kIdle);
      use->peak = share_of(peak_of.at(id), kPeak);
      measured.use.push_back(*use);
    }
    measured.jobs.push_back(std::move(row));
  }
  return measured;
}

// Parts of a step that add up to it.
struct Shown {
  std::array<double, 4> phase{};
};
Shown shares(const JobRow& row, const StepAnswer& answer) {
  Shown shown;
  double sum = 0;
  for (const double seconds : row.costs.phase) sum += seconds;
  for (std::size_t p = 0; p < shown.phase.size(); ++p)
    shown.phase[p] = sum > 0 ? answer.seconds * row.costs.phase[p] / sum : 0;
  return shown;
}

// A share of the job, with an interval, as a column of percentages.
class Percentages {
 public:
  void add(double share, double off) {
    said_.push_back(kPercent * share);
    low_.push_back(kPercent * std::max(share - off, 0.0));
    high_.push_back(kPercent * std::min(share + off, 1.0));
  }
  void put(TableBuilder& table, const std::string& name, const std::vector<bool>& valid) {
    const Metadata percent = {{"omen.unit", "%"}};
    table.add(name, std::move(said_), percent).valid(valid);
    table.add(name + ".lo", std::move(low_), percent).valid(valid);
    table.add(name + ".hi", std::move(high_), percent).valid(valid);
  }

 private:
  std::vector<double> said_, low_, high_;
};

class StepAnswers {
 public:
  void add(const StepRow& row, const JobRow* job, const StepAnswer& answer,
           const std::optional<UseShares>& use) {
    id_.push_back(row.workload_id);
    answered_.push_back(job != nullptr);
    const double ms = answer.seconds * kMilli, factor = std::exp(answer.half_width);
    const Shown shown = job ? shares(*job, answer) : Shown{};
    step_.push_back(ms);
    low_.push_back(job ? std::max(ms / factor, job->costs.bound * kMilli) : 0);
    high_.push_back(ms * factor);
    for (std::size_t p = 0; p < 4; ++p) phase_[p].push_back(shown.phase[p] * kMilli);
    const MemoryNeed need = memory_need(row.job);
    memory_.push_back(need.total());
    fill_.push_back(job && job->device.memory > 0 ? need.total() / job->device.memory : 0);
    use_.push_back(job && answer.seconds > 0 ? job->costs.bound / answer.seconds : 0);
    steps_known_ |= row.steps > 0;
    job_.push_back(row.steps * answer.seconds);
    used_.push_back(use.has_value());
    use_known_ |= use.has_value();
    const UseShares shown_use = use.value_or(UseShares{});
    idle_.add(shown_use.idle, shown_use.idle_off);
    burst_.add(shown_use.burst, shown_use.idle_off);
    peak_.add(shown_use.peak, shown_use.peak_off);
    status_.push_back(!job ? row.refusal : answer.extrapolates ? "extrapolating" : "ok");
  }
  Table finish() {
    TableBuilder table;
    const Metadata ms = {{"omen.unit", "ms"}}, one = {{"omen.unit", "1"}};
    table.add(OMEN_COLUMN_WORKLOAD_ID, std::move(id_));
    table.add(kTarget, std::move(step_), ms).valid(answered_);
    table.add(std::string(kTarget) + ".lo", std::move(low_), ms).valid(answered_);
    table.add(std::string(kTarget) + ".hi", std::move(high_), ms).valid(answered_);
    constexpr const char* kPhases[] = {"forward_ms", "backward_ms", "update_ms",
                                       "communication_ms"};
    for (std::size_t p = 0; p < 4; ++p)
      table.add(kPhases[p], std::move(phase_[p]), ms).valid(answered_);
    table.add("memory_bytes", std::move(memory_), {{"omen.unit", "B"}}).valid(answered_);
    table.add("memory_share", std::move(fill_), one).valid(answered_);
    table.add("utilisation", std::move(use_), one).valid(answered_);
    if (steps_known_) table.add("job_s", std::move(job_), {{"omen.unit", "s"}}).valid(answered_);
    if (use_known_) {
      idle_.put(table, kIdle, used_);
      burst_.put(table, kBurst, used_);
      peak_.put(table, kPeak, used_);
    }
    return table.add_strings("status", status_).finish();
  }

 private:
  std::vector<std::int64_t> id_;
  std::vector<bool> answered_, used_;
  Percentages idle_, burst_, peak_;
  std::vector<double> step_, low_, high_, memory_, fill_, use_, job_;
  std::array<std::vector<double>, 4> phase_;
  std::vector<std::string> status_;
  bool steps_known_ = false, use_known_ = false;
};

}  // namespace

void StepPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  auto next = std::make_unique<Fitted>();
  next->operators = shipped_operators(options_.operators);
  Measured rows = measured_rows(train, next->operators, run);
  if (valid && valid.has(OMEN_TABLE_TARGETS))
    rows = joined(std::move(rows), measured_rows(valid, next->operators, run));
  if (rows.jobs.empty())
    throw Error(OMEN_INVALID_DATA, "no row has a graph, a device and a measured step",
                "See omen info driple.step for the columns that it reads.");
  StepOptions how;
  how.folds = options_.folds;
  how.seed = run.seed();
  next->jobs.fit(rows.jobs, how);
  if (!rows.use.empty()) next->use.fit(rows.use);
  model_ = std::move(next);
}

TableStream StepPredictor::predict(const Dataset& in, const Run& run) {
  const Fitted& model = learn::require_model(model_, kId);
  const std::vector<StepRow> rows = read_step_rows(in);
  std::vector<JobRow> asked;
  std::vector<std::size_t> place(rows.size(), rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    run.step(static_cast<double>(r) / static_cast<double>(rows.size()), "operators");
    if (!rows[r].refusal.empty()) continue;
    place[r] = asked.size();
    asked.push_back(job_row(rows[r], model.operators));
  }
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualLevel;
  const std::vector<StepAnswer> said = model.jobs.ask(asked, level);
  StepAnswers answers;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool answered = place[r] < asked.size();
    const JobRow* job = answered ? &asked[place[r]] : nullptr;
    const StepAnswer answer = answered ? said[place[r]] : StepAnswer{};
    std::optional<UseRow> use;
    if (answered && model.use.fitted()) use = use_row(rows[r], *job, answer.seconds);
    answers.add(rows[r], job, answer, use ? model.use.ask(*use, level) : std::nullopt);
  }
  return answers.finish();
}

void StepPredictor::observe(const Dataset& measured, const Run& run) {
  learn::require_model(model_, kId);
  model_->jobs.observe(measured_rows(measured, model_->operators, run).jobs);
}

void StepPredictor::save(ArtifactWriter& out) const {
  const Fitted& model = learn::require_model(model_, kId);
  out.put_meta(kComponentKey, kId);
  learn::ArtifactState state(out);
  model.operators.save(state);
  model.jobs.save(state);
  if (!model.use.fitted()) return;
  out.put_meta(UseModel::kThere, "yes");
  model.use.save(state);
}

void StepPredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta(kComponentKey), kId);
  auto next = std::make_unique<Fitted>();
  const learn::ArtifactSource state(in);
  next->operators.load(state);
  next->jobs.load(state);
  if (in.find_meta(UseModel::kThere)) next->use.load(state);
  model_ = std::move(next);
}

Component step_component() {
  return predictor<StepPredictor, StepPredictorOptions>(
             kId, "time and memory of a training or inference step on any GPU, from its op graph")
      .reads("nodes@step/1", "edges:optional", "workloads.mode", "workloads.precision",
             "workloads.gpu:optional", "workloads.framework:optional",
             "workloads.framework_version:optional", "workloads.split_tensor:optional",
             "workloads.split_pipeline:optional", "workloads.split_data:optional",
             "workloads.epochs:optional", "workloads.samples:optional",
             "workloads.total_tokens:optional", "workloads.launch_s:optional")
      .writes("step_ms:ms:lower", "forward_ms:ms:lower", "backward_ms:ms:lower",
              "update_ms:ms:lower", "communication_ms:ms:lower", "memory_bytes:B:lower",
              "memory_share:1:lower", "utilisation:1:higher", "job_s:s:lower",
              "gpu_idle_pct:%:lower", "gpu_burst_pct:%:higher", "gpu_peak_pct:%:higher")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY |
            OMEN_CAP_DEFAULT)
      .cite("doi:10.1145/3669940.3707265");
}

}  // namespace omen::driple
