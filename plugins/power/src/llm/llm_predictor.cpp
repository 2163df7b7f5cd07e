// SPDX-License-Identifier: Apache-2.0
// Answers rows, column by column; energy is power times time in every one of them.
#include "llm/llm_predictor.hpp"

#include <cmath>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>

namespace omen::power {
namespace {

constexpr const char* kLlmId = "power.llm";
constexpr double kUsualLlmLevel = 0.9;
// Nobody measured how wrong the closed form is where it extrapolates; twice as wrong is a guess
// that keeps the interval from looking better than it is.
constexpr double kExtrapolatedWidth = 2;

struct LlmAnswer {
  double value = 0, width = 0;  // width: half of the interval, in logarithms
};

class LlmColumn {
 public:
  LlmColumn(const char* name, const char* unit) : name_(name), unit_(unit) {}
  void add(LlmAnswer answer) {
    value_.push_back(answer.value);
    low_.push_back(answer.value * std::exp(-answer.width));
    high_.push_back(answer.value * std::exp(answer.width));
  }
  void put(TableBuilder& table, const std::vector<bool>& answered, bool interval,
           const std::string& method) {
    const Metadata facts = {{"omen.unit", unit_}, {"omen.method", method}};
    table.add(name_, std::move(value_), facts).valid(answered);
    if (!interval) return;
    table.add(std::string(name_) + ".lo", std::move(low_), facts).valid(answered);
    table.add(std::string(name_) + ".hi", std::move(high_), facts).valid(answered);
  }

 private:
  const char *name_, *unit_;
  std::vector<double> value_, low_, high_;
};

class LlmAnswers {
 public:
  LlmAnswers(const LlmModel& model, double level) : model_(model), level_(level) {}

  void add(const ServingRow& row) {
    workload_.push_back(row.workload_id);
    candidate_.push_back(row.candidate_id);
    Serving serving = row.serving;
    std::string refusal = row.refusal;
    if (refusal.empty() && row.requests_per_s > 0) {
      const std::optional<Serving> found = at_rate(model_, serving, row.requests_per_s);
      if (found)
        serving = *found;
      else
        refusal = "does not keep up with the requests";
    }
    answered_.push_back(refusal.empty());
    const bool far = refusal.empty() && model_.extrapolates(serving);
    status_.push_back(!refusal.empty() ? refusal : far ? "extrapolating" : "ok");
    fill(serving, refusal.empty() ? model_.ask(serving) : Forecast{}, far ? kExtrapolatedWidth : 1);
  }

  Table finish() {
    const std::string method =
        model_.observed() > 0
            ? "estimated:calibrated(" + std::to_string(model_.observed()) + " rows)"
            : "estimated:roofline";
    TableBuilder table;
    table.add("workload_id", std::move(workload_));
    if (!candidate_.empty() && candidate_[0] >= 0) table.add("candidate_id", std::move(candidate_));
    for (LlmColumn* column : {&token_j_, &power_, &time_, &energy_})
      column->put(table, answered_, true, method);
    for (LlmColumn* column :
         {&first_, &itl_, &rate_, &at_once_, &prefill_w_, &decode_w_, &prefill_j_, &decode_j_})
      column->put(table, answered_, false, method);
    return table.add_strings("bound", bound_).add_strings("status", status_).finish();
  }

 private:
  void fill(const Serving& s, const Forecast& f, double wider) {
    const double time = wider * model_.time_width(level_),
                 power = wider * model_.power_width(level_),
                 energy = wider * model_.energy_width(level_);
    token_j_.add({f.joules / (s.batch * std::max(s.output, 1.0)), energy});
    power_.add({f.watts, power});
    time_.add({f.seconds, time});
    energy_.add({f.joules, energy});
    first_.add({f.first_s, time});
    itl_.add({1e3 * f.token_s, time});
    rate_.add({f.seconds > 0 ? s.batch * s.output / f.seconds : 0, time});
    at_once_.add({f.at_once, 0});
    prefill_w_.add({f.prefill.watts, power});
    decode_w_.add({f.decode.watts, power});
    prefill_j_.add({f.prefill.joules, energy});
    decode_j_.add({f.decode.joules, energy});
    bound_.emplace_back(bound_name(f.decode.bound));
  }

  const LlmModel& model_;
  double level_;
  std::vector<std::int64_t> workload_;
  std::vector<std::int32_t> candidate_;
  std::vector<bool> answered_;
  std::vector<std::string> bound_, status_;
  LlmColumn token_j_{"energy_per_token_j", "J"}, power_{"power_w", "W"}, time_{"time_s", "s"},
      energy_{"energy_j", "J"}, first_{"first_token_s", "s"}, itl_{"token_ms", "ms"},
      rate_{"tokens_per_s", "1/s"}, at_once_{"at_once", "1"}, prefill_w_{"prefill_w", "W"},
      decode_w_{"decode_w", "W"}, prefill_j_{"prefill_j", "J"}, decode_j_{"decode_j", "J"};
};

}  // namespace

std::optional<Serving> at_rate(const LlmModel& model, Serving serving, double requests_per_s) {
  serving.batching = Batching::kContinuous;
  const double most = sequences_that_fit(serving);
  const auto answered_per_s = [&](double batch) {
    serving.batch = batch;
    return batch / model.ask(serving).seconds;
  };
  double low = 1e-3, high = most;
  if (answered_per_s(high) < requests_per_s) return std::nullopt;
  // More at once always answer more, so the rate is met at exactly one batch.
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (answered_per_s(middle) < requests_per_s ? low : high) = middle;
  }
  // Less than one at once: the GPUs rest between requests, which the whole request pays for.
  serving.batch = std::max(high, 1.0);
  return serving;
}

void LlmPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  const std::vector<MeasuredRun> runs = learn::read_both(
      train, valid, [&](const Dataset& data) { return read_measured_runs(data, run); });
  LlmFitOptions how;
  how.folds = options_.folds;
  how.core_only = options_.core;
  how.seed = run.seed();
  how.step = [&run](double) { run.step(-1, "fit"); };
  auto next = std::make_unique<LlmModel>();
  next->fit(runs, how);
  model_ = std::move(next);
}

TableStream LlmPredictor::predict(const Dataset& in, const Run& run) {
  const LlmModel& model = learn::require_model(model_, kLlmId);
  LlmAnswers answers(model, run.interval_level() > 0 ? run.interval_level() : kUsualLlmLevel);
  for (const ServingRow& row : read_servings(in, run)) answers.add(row);
  return answers.finish();
}

void LlmPredictor::observe(const Dataset& measured, const Run& run) {
  auto next = std::make_unique<LlmModel>(learn::require_model(model_, kLlmId));
  next->observe(read_measured_runs(measured, run));
  model_ = std::move(next);
}

void LlmPredictor::save(ArtifactWriter& out) const {
  learn::save_model(model_, kLlmId, out);
}

void LlmPredictor::load(const ArtifactReader& in) {
  auto next = std::make_unique<LlmModel>();
  next->load(learn::saved_model(in, kLlmId));
  model_ = std::move(next);
}

Component llm_component() {
  return predictor<LlmPredictor, LlmOptions>(
             kLlmId, "joules per token, watts and latency of a language model on GPUs")
      .reads("workloads.gpu", "workloads.model:optional", "workloads.parameters:optional",
             "workloads.active_parameters:optional", "workloads.layers:optional",
             "workloads.hidden:optional", "workloads.cache_bytes_per_token:optional",
             "workloads.experts:optional", "workloads.experts_per_token:optional",
             "workloads.gpus:optional", "workloads.batch:optional",
             "workloads.requests_per_s:optional", "workloads.batching:optional",
             "workloads.input_tokens:optional", "workloads.output_tokens:optional",
             "workloads.framework:optional", "workloads.precision:optional",
             "workloads.power_cap_w:optional", "workloads.tdp_w:optional",
             "workloads.idle_w:optional", "workloads.gpu_flops:optional",
             "workloads.gpu_bytes_per_s:optional", "workloads.gpu_memory_bytes:optional",
             "workloads.trust:optional", "nodes@llm/1:optional")
      .writes("energy_per_token_j:J:lower", "power_w:W:lower", "time_s:s:lower", "energy_j:J:lower",
              "first_token_s:s:lower", "token_ms:ms:lower", "tokens_per_s:1/s:higher",
              "at_once:1:higher", "prefill_w:W:lower", "decode_w:W:lower", "prefill_j:J:lower",
              "decode_j:J:lower")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY |
            OMEN_CAP_DEFAULT)
      .cite("roofline: doi:10.1145/1498765.1498785");
}

}  // namespace omen::power
