// SPDX-License-Identifier: Apache-2.0
// Fits a predictor and keeps the result as a model that knows where it came from.
#include <chrono>
#include <mutex>

#include "pipeline.hpp"
#include "pipeline/models.hpp"
#include "text/json_writer.hpp"

namespace omen::host {
namespace {

void put_all(MemoryDataset& dataset, const Tables& tables) {
  for (const auto& [name, table] : tables) dataset.put(name, table);
}

std::string metrics_json(const std::map<std::string, double>& metrics) {
  JsonWriter json;
  json.object();
  for (const auto& [name, value] : metrics) json.field(name, value);
  return json.end().text();
}

}  // namespace

Training train(const Components& components, const TrainingPlan& plan, FlagBook& flags,
               const std::filesystem::path& output) {
  const ComponentInfo& info = *plan.predictor.info;
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  flags.finish();
  if (!plan.from.empty() && !(info.caps & OMEN_CAP_WARM_START))
    throw Error(OMEN_UNSUPPORTED, info.id + " cannot continue from a model",
                "train it from the start, without --from");

  Training result;
  result.options_json = options.canonical_json();
  result.options_hash = options.hash();
  PredictorHandle handle = components.predictor(plan.predictor, options);
  if (!plan.from.empty()) load_model(handle, plan.predictor, plan.from);

  MemoryDataset training, validation;
  put_all(training, plan.data.train);
  put_all(validation, plan.data.valid);
  std::mutex mutex;
  RunHooks hooks = components.settings().hooks;
  hooks.metric = [&, next = hooks.metric](const char* name, std::int64_t step, double value) {
    const std::lock_guard lock(mutex);
    result.last_metrics[name] = value;
    if (next) next(name, step, value);
  };
  const RunContext run(components.settings().run, hooks);
  const auto start = std::chrono::steady_clock::now();
  handle.fit(run.c(), training.c(), plan.data.valid.empty() ? nullptr : validation.c());
  result.fit_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  TrainingFacts facts;
  facts.options_json = result.options_json;
  facts.split = plan.split_id;
  facts.seed = components.settings().run.seed;
  facts.schema = feature_schema(info, training.view());
  for (const char* table : {"targets", "node_targets"})
    if (const auto at = plan.data.train.find(table); at != plan.data.train.end())
      facts.targets = target_facts(at->second);
  facts.losses_json = metrics_json(result.last_metrics);
  facts.summary = plan.summary;
  save_model(handle, plan.predictor, facts, output);
  return result;
}

}  // namespace omen::host
