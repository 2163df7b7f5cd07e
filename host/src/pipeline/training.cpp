// SPDX-License-Identifier: Apache-2.0
// Fits a predictor and keeps the result as a model that knows where it came from.
#include <mutex>

#include "components/named_errors.hpp"
#include "omen/container.hpp"
#include "omen/join.hpp"
#include "omen/reads.hpp"
#include "omen/tables.h"
#include "pipeline/pipeline.hpp"
#include "pipeline/state_directory.hpp"
#include "text/json_writer.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

// A predictor learns from everything there is, targets included.
void show_all(MemoryDataset& dataset, const Tables& tables, const TaskFacts& task) {
  for (const auto& [name, table] : tables) dataset.put(name, table);
  task.tell(dataset);
}

[[noreturn]] void throw_unread(const ComponentInfo& info, const std::string& what,
                               const std::string& hint) {
  throw Error(OMEN_INVALID_DATA, info.id + " reads " + what,
              hint + "; what it reads is shown by: omen info " + info.id);
}

// What a predictor says it reads is there, so that its own code need not find out half-way.
void check_reads(const ComponentInfo& info, const Tables& tables) {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables) names.push_back(name);
  for (const std::string& text : info.reads) {
    const ReadEntry read = parse_read(text);
    if (read.optional || read.table == OMEN_TABLE_PREDICTIONS) continue;
    const auto table = tables.find(read.table);
    if (table == tables.end())
      throw_unread(info, "table '" + read.table + "', which the data does not have",
                   "its tables are " + join(names));
    const std::string dialect = table->second.metadata(OMEN_META_DIALECT);
    if (!read.dialect.empty() && !dialect.empty() && dialect != read.dialect)
      throw_unread(info,
                   read.table + " of dialect " + read.dialect + ", and the data has " + dialect,
                   "make the graphs with a front end that writes " + read.dialect);
    if (!read.any_column() && !table->second.has(read.column))
      throw_unread(
          info, "column '" + read.column + "' of " + read.table + ", which the data does not have",
          "add the column, or rename one with: omen data import FILE --rename OLD=" + read.column);
  }
}

std::string fingerprint_of(const FitPlan& plan, const RunSettings& run) {
  if (plan.state.empty() || !plan.fingerprint.empty()) return plan.fingerprint;
  return call_fingerprint(plan.predictor, plan.options, run,
                          {tables_digest(plan.train), tables_digest(plan.valid), plan.task.hash,
                           plan.from.empty() ? "" : container::sha256_file(plan.from)});
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
  PredictorHandle handle =
      said_by(info.id, [&] { return components.predictor(plan.predictor, plan.options); });
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
  RunSettings settings = components.settings().run;
  StateDirectory state(plan.state, fingerprint_of(plan, settings));
  settings.state_dir = state.path();
  if (state.keeps_something())
    log(OMEN_LOG_INFO, "omen", "goes on with the training in " + plan.state.string());
  try {
    const RunContext run(settings, hooks);
    const auto start = std::chrono::steady_clock::now();
    said_by(info.id, [&] {
      handle.fit(run.c(), training.c(), plan.valid.empty() ? nullptr : validation.c());
    });
    result.seconds = seconds_since(start);
  } catch (const Error& error) {
    if (error.code() != OMEN_CANCELLED || !state.keeps_something()) throw;
    throw Error(error.code(), error.what(),
                "the same command goes on with what is kept in " + plan.state.string());
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
  said_by(info.id, [&] { save_model(handle, plan.predictor, facts, output); });
  state.finish();
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
  check_reads(info, plan.data.train);
  Fit done = fit(components,
                 {plan.predictor,
                  options,
                  plan.data.train,
                  plan.data.valid,
                  {},
                  plan.split_id,
                  plan.summary,
                  plan.from,
                  plan.state},
                 output);
  return {options.canonical_json(), options.hash(), done.seconds, std::move(done.last_metrics)};
}

}  // namespace omen::host
