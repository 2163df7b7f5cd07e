// SPDX-License-Identifier: Apache-2.0
// Fits a predictor and keeps the result as a model that knows where it came from.
#include <mutex>

#include "pipeline/pipeline.hpp"
#include "text/json_writer.hpp"

namespace omen::host {
namespace {

// A predictor learns from everything there is, targets included.
void show_all(MemoryDataset& dataset, const Tables& tables, const TaskFacts& task) {
  for (const auto& [name, table] : tables) dataset.put(name, table);
  task.tell(dataset);
}

std::string metrics_json(const std::map<std::string, double>& metrics) {
  JsonWriter json;
  json.object();
  for (const auto& [name, value] : metrics) json.field(name, value);
  return json.end().text();
}

}  // namespace

Fit fit(const Components& components, const FitPlan& plan, const std::filesystem::path& output) {
  const ComponentInfo& info = *plan.predictor.info;
  PredictorHandle handle = components.predictor(plan.predictor, plan.options);
  if (!plan.from.empty()) load_model(handle, plan.predictor, plan.from);
  MemoryDataset training, validation;
  show_all(training, plan.train, plan.task);
  show_all(validation, plan.valid, plan.task);
  Fit result;
  std::mutex mutex;
  RunHooks hooks = components.settings().hooks;
  hooks.metric = [&, next = hooks.metric](const char* name, std::int64_t step, double value) {
    const std::lock_guard lock(mutex);
    result.last_metrics[name] = value;
    if (next) next(name, step, value);
  };
  {
    const RunContext run(components.settings().run, hooks);
    const auto start = std::chrono::steady_clock::now();
    handle.fit(run.c(), training.c(), plan.valid.empty() ? nullptr : validation.c());
    result.seconds = seconds_since(start);
  }
  TrainingFacts facts;
  facts.options_json = plan.options.canonical_json();
  facts.task_hash = plan.task.hash;
  facts.split = plan.split_id;
  facts.seed = components.settings().run.seed;
  facts.schema = feature_schema(info, training.view());
  for (const char* table : {"targets", "node_targets"})
    if (const auto at = plan.train.find(table); at != plan.train.end())
      facts.targets = target_facts(at->second);
  facts.losses_json = metrics_json(result.last_metrics);
  facts.summary = plan.summary;
  save_model(handle, plan.predictor, facts, output);
  result.peak_memory = components.peak_memory(plan.predictor, handle);
  return result;
}

Training train(const Components& components, const TrainingPlan& plan, FlagBook& flags,
               const std::filesystem::path& output) {
  const ComponentInfo& info = *plan.predictor.info;
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  flags.finish();
  if (!plan.from.empty() && !(info.caps & OMEN_CAP_WARM_START))
    throw Error(OMEN_UNSUPPORTED, info.id + " cannot continue from a model",
                "train it from the start, without --from");
  Fit done = fit(components,
                 {plan.predictor,
                  options,
                  plan.data.train,
                  plan.data.valid,
                  {},
                  plan.split_id,
                  plan.summary,
                  plan.from},
                 output);
  return {options.canonical_json(), options.hash(), done.seconds, std::move(done.last_metrics)};
}

}  // namespace omen::host
