// SPDX-License-Identifier: Apache-2.0
// Asks a predictor and insists on an answer for every workload.
#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "components/named_errors.hpp"
#include "components/withheld.hpp"
#include "pipeline/conform.hpp"

namespace omen::host {
namespace {

// The largest number of rows that an answer about these tables can have.
std::int64_t rows_due(const Tables& inputs) {
  std::int64_t most = 0;
  for (const char* name : {"workloads", "candidates", "nodes", "node_features"})
    if (const auto table = inputs.find(name); table != inputs.end())
      most = std::max(most, table->second.rows());
  return most;
}

// What is reported are the options that the model was made with, and what was asked for now.
OptionSources over_the_models(OptionSources asked, const Choice& choice) {
  using nlohmann::json;
  if (choice.model.empty()) return asked;
  const json made = json::parse(choice.model.card().options_json, nullptr, false);
  const json given = json::parse(asked.config_json, nullptr, false);
  json all = json::object();
  if (made.is_object())
    for (const auto& [key, value] : made.items())
      if (choice.predictor.info->option(key)) all[key] = value;
  if (given.is_object()) all.update(given);
  asked.config_json = all.dump();
  return asked;
}

}  // namespace

ReadyPredictor::ReadyPredictor(const Components& components, Choice choice,
                               const OptionValues& options, const Tables& inputs, TaskFacts task)
    : components_(components),
      choice_(std::move(choice)),
      task_(std::move(task)),
      handle_(said_by(choice_.predictor.info->id,
                      [&] { return components.predictor(choice_.predictor, options); })) {
  MemoryDataset dataset;
  show(dataset, inputs);
  load_model(handle_, choice_.predictor, choice_.model, dataset.view());
  load_seconds_ = seconds_since(start_);
}

void ReadyPredictor::show(MemoryDataset& dataset, const Tables& inputs) const {
  put_inputs(dataset, conform(inputs, choice_.model));
  task_.tell(dataset);
}

void ReadyPredictor::observe(const Tables& measured) {
  MemoryDataset dataset;
  for (const auto& [name, table] : conform(measured, choice_.model)) dataset.put(name, table);
  task_.tell(dataset);
  const RunContext run(components_.settings().run, components_.settings().hooks);
  try {
    components_.observe(choice_.predictor, handle_, run.c(), dataset.c());
  } catch (const Error& error) {
    if (error.code() != OMEN_UNSUPPORTED) throw;
    throw Error(OMEN_UNSUPPORTED,
                choice_.predictor.info->id + " does not learn from single measurements",
                "train it again with these rows");
  }
}

void ReadyPredictor::save(const TrainingFacts& facts, const std::filesystem::path& output) {
  save_model(handle_, choice_.predictor, facts, output);
}

Answer ReadyPredictor::predict(const Tables& inputs) {
  MemoryDataset dataset;
  show(dataset, inputs);
  const RunContext run(components_.settings().run, components_.settings().hooks);
  Answer answer;
  const auto start = std::chrono::steady_clock::now();
  const std::string& id = choice_.predictor.info->id;
  answer.rows = said_by(id, [&] {
    return read_until_failure(handle_.predict(run.c(), dataset.c()), run, rows_due(inputs), id,
                              answer.failure);
  });
  if (answer.failure) answer.failure = named_error(id, *answer.failure);
  answer.seconds = seconds_since(start);
  // With candidates there is a row for each pair, and a task on nodes has a row for each node.
  if (inputs.count("candidates") || answer.rows.has("node_id")) return answer;
  answer.rows = checked_predictions(
      answer.rows, inputs.at("workloads"), id,
      answer.failure ? std::string("failed: ") + answer.failure->what() : "",
      choice_.model.empty() ? std::vector<TargetFacts>{} : choice_.model.card().targets);
  return answer;
}

Prediction predict(const Components& components, const Choice& choice, const Tables& tables,
                   FlagBook& flags) {
  const ComponentInfo& info = *choice.predictor.info;
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  flags.finish();
  const OptionValues reported =
      resolve_options(info, over_the_models(flags.sources_for(info), choice));
  Prediction result;
  result.options_json = reported.canonical_json();
  result.options_hash = reported.hash();
  ReadyPredictor predictor(components, choice, options, tables);
  result.load_seconds = predictor.load_seconds();
  Answer answer = predictor.predict(tables);
  result.predict_seconds = answer.seconds;
  result.rows = std::move(answer.rows);
  result.failure = std::move(answer.failure);
  return result;
}

Table read_until_failure(TableStream stream, const RunContext& run, std::int64_t due,
                         const std::string& who, std::optional<Error>& failure) {
  constexpr std::int64_t kTooMany = 1 << 20;  // beyond what is due; a few are told apart later
  const KeptDirectory directory;
  std::vector<Table> batches;
  std::int64_t rows = 0;
  try {
    while (std::optional<Table> batch = stream.next()) {
      batch->validate();
      rows += batch->rows();
      batches.push_back(*std::move(batch));
      if (run.c()->is_cancelled(run.c())) throw Error(OMEN_CANCELLED, "interrupted");
      if (rows - kTooMany > due) break;
    }
  } catch (const Error& e) {
    if (rows == 0 || e.code() == OMEN_CANCELLED) throw;
    failure = e;
  }
  if (rows - kTooMany > due)
    throw Error(OMEN_INTERNAL,
                "plugin misbehaving: " + who + " was asked for " + std::to_string(due) +
                    " rows, gave " + std::to_string(rows) + " and did not end",
                verify_hint(who));
  return batches.empty() ? stream.schema() : batches.size() == 1 ? batches[0] : concat(batches);
}

std::vector<std::string> target_names(const Table& predictions) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < predictions.columns(); ++c) {
    const std::string name(predictions.name(c));
    const bool key =
        name == "workload_id" || name == "candidate_id" || name == "node_id" || name == "status";
    const bool part =
        name.ends_with(".lo") || name.ends_with(".hi") || name.find(".p.") != name.npos;
    if (!key && !part) names.push_back(name);
  }
  return names;
}

}  // namespace omen::host
