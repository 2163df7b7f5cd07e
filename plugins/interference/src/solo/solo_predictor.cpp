// SPDX-License-Identifier: Apache-2.0
// Reads jobs alone, fits a model for each target, and writes their answers.
#include "solo/solo_predictor.hpp"

#include <cmath>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>

namespace omen::interference {
namespace {

constexpr const char* kSoloId = "interference.solo";
constexpr const char* kSoloKey = "interference.component";
constexpr double kSoloLevel = 0.9;

std::vector<learn::ReadTarget> numeric_targets(const Dataset& data, const Run& run) {
  const learn::Rows rows = learn::read_rows(data, {}, [&run] { run.step(-1, "read"); });
  std::vector<learn::ReadTarget> targets = learn::read_targets(data, rows);
  for (const learn::ReadTarget& each : targets)
    if (!each.target.classes.empty())
      learn::throw_bad_data("target " + each.target.name + " is a class",
                            "interference.solo predicts numbers; use baseline.gbt for classes.");
  if (targets.empty())
    learn::throw_bad_data("the data has no target",
                          "Name one: --target util_pct:%:lower or rate_per_s:1/s:higher.");
  return targets;
}

std::string unit_of(const Metadata& metadata) {
  for (const auto& [key, value] : metadata)
    if (key == "omen.unit") return value;
  return "1";
}

std::string prefix_of(std::size_t target) {
  return "solo." + std::to_string(target) + ".";
}

}  // namespace

void SoloPredictor::fit(const Dataset& train, const Dataset&, const Run& run) {
  const auto check = [&run] { run.step(-1, "read"); };
  auto fitted = std::make_unique<Fitted>();
  fitted->columns = solo_columns(train, check);
  const SoloRows rows = read_solo_rows(train, fitted->columns, check);
  fitted->encoder.fit(rows);
  learn::Context context;
  context.seed = run.seed();
  context.step = [&run](double done, const char* stage) { run.step(done, stage); };
  for (const learn::ReadTarget& each : numeric_targets(train, run)) {
    fitted->units.push_back(unit_of(each.metadata));
    fitted->models.emplace_back(each.target.name, fitted->units.back() == "%");
    fitted->models.back().fit(fitted->encoder, rows, each.target.numbers, context);
  }
  fitted_ = std::move(fitted);
}

TableStream SoloPredictor::predict(const Dataset& in, const Run& run) {
  const Fitted& fitted = learn::require_model(fitted_, kSoloId);
  const SoloRows rows = read_solo_rows(in, fitted.columns, [&run] { run.step(-1, "read"); });
  const double level = run.interval_level() > 0 ? run.interval_level() : kSoloLevel;
  TableBuilder table;
  table.add("workload_id", rows.workload_id);
  if (!rows.candidate_id.empty()) table.add("candidate_id", rows.candidate_id);
  std::vector<std::string> status(rows.batch.size(), "ok");
  for (std::size_t target = 0; target < fitted.models.size(); ++target) {
    const SoloModel& model = fitted.models[target];
    std::vector<double> value, low, high;
    const std::vector<SoloAnswer> answers = model.ask(fitted.encoder, rows, level);
    for (std::size_t row = 0; row < answers.size(); ++row) {
      value.push_back(answers[row].value);
      low.push_back(answers[row].low);
      high.push_back(answers[row].high);
      if (answers[row].is_extrapolating) status[row] = "extrapolating";
    }
    const Metadata unit = {{"omen.unit", fitted.units[target]}};
    table.add(model.target(), std::move(value), unit);
    table.add(model.target() + ".lo", std::move(low), unit);
    table.add(model.target() + ".hi", std::move(high), unit);
  }
  return table.add_strings("status", status).finish();
}

void SoloPredictor::observe(const Dataset& measured, const Run& run) {
  learn::require_model(fitted_, kSoloId);
  const SoloRows rows =
      read_solo_rows(measured, fitted_->columns, [&run] { run.step(-1, "read"); });
  const std::vector<learn::ReadTarget> targets = numeric_targets(measured, run);
  // Nothing is changed before everything is known to fit.
  std::vector<const std::vector<double>*> values(fitted_->models.size(), nullptr);
  bool any = false;
  for (const learn::ReadTarget& each : targets)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (fitted_->models[i].target() == each.target.name) {
        values[i] = &each.target.numbers;
        any = true;
        for (const double value : each.target.numbers)
          if (!fitted_->models[i].takes(value))
            learn::throw_bad_data(each.target.name + " is " + std::to_string(value),
                                  "Rates and times are above 0.");
      }
  if (!any)
    learn::throw_bad_data("no target of the model was measured",
                          "Give one of its targets with --target.");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) fitted_->models[i].observe(fitted_->encoder, rows, *values[i]);
}

void SoloPredictor::save(ArtifactWriter& out) const {
  const Fitted& fitted = learn::require_model(fitted_, kSoloId);
  out.put_meta(kSoloKey, kSoloId);
  learn::ArtifactState state(out);
  state.put_strings("solo.texts", fitted.columns.texts);
  state.put_strings("solo.counters", fitted.columns.counters);
  state.put_strings("solo.units", fitted.units);
  std::vector<std::string> targets;
  for (const SoloModel& model : fitted.models) targets.push_back(model.target());
  state.put_strings("solo.targets", targets);
  fitted.encoder.save(state);
  for (std::size_t i = 0; i < fitted.models.size(); ++i) fitted.models[i].save(state, prefix_of(i));
}

void SoloPredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta(kSoloKey), kSoloId);
  const learn::ArtifactSource state(in);
  auto fitted = std::make_unique<Fitted>();
  fitted->columns = {state.strings("solo.texts"), state.strings("solo.counters")};
  fitted->units = state.strings("solo.units");
  fitted->encoder.load(state, fitted->columns);
  for (const std::string& target : state.strings("solo.targets")) {
    fitted->models.emplace_back(target, false);
    fitted->models.back().load(state, prefix_of(fitted->models.size() - 1), fitted->encoder);
  }
  if (fitted->units.size() != fitted->models.size() || fitted->models.empty())
    learn::throw_bad_data("the model's targets are damaged", "Train the model again.");
  fitted_ = std::move(fitted);
}

Component solo_component() {
  return predictor<SoloPredictor>(kSoloId,
                                  "utilisation, memory and step rate of a job alone over its batch")
      .reads("workloads.batch:optional", "workloads.*")
      .writes("*")
      .caps(OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY)
      .cite("doi:10.7551/mitpress/3206.001.0001");
}

}  // namespace omen::interference
