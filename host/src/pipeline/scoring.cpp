// SPDX-License-Identifier: Apache-2.0
// Ranks candidates: lists them, predicts each with a predictor that the scorer can use, and asks
// the scorer.
#include <algorithm>
#include <limits>

#include "components/named_errors.hpp"
#include "components/withheld.hpp"
#include "omen/reads.hpp"
#include "omen/tables.hpp"
#include "pipeline/pipeline.hpp"

namespace omen::host {
namespace {

// What a scorer says of the predictions it reads.
struct Needs {
  bool wanted = false, required = false;
  std::vector<std::string> columns;  // empty: any
};

Needs prediction_needs(const ComponentInfo& scorer) {
  Needs needs;
  for (const std::string& text : scorer.reads) {
    const ReadEntry read = parse_read(text);
    if (read.table != "predictions") continue;
    needs.wanted = true;
    needs.required |= !read.optional;
    if (!read.any_column()) needs.columns.push_back(read.column);
  }
  return needs;
}

bool writes_all(const ComponentInfo& predictor, const std::vector<std::string>& columns) {
  const auto writes = [&](const std::string& column) {
    return std::any_of(predictor.writes.begin(), predictor.writes.end(),
                       [&](const std::string& entry) {
                         return entry == "*" || entry.substr(0, entry.find(':')) == column;
                       });
  };
  return std::all_of(columns.begin(), columns.end(), writes);
}

// The predictor of the scorer's own family that gives what it reads, unless the user names one.
std::string own_predictor(const Registry& registry, const ComponentInfo& scorer,
                          const std::vector<std::string>& columns) {
  const std::string family = scorer.id.substr(0, scorer.id.find('.') + 1);
  std::string first;
  for (const ComponentRef& ref : registry.components(OMEN_PREDICTOR)) {
    const bool fits = ref.info->id.starts_with(family) && writes_all(*ref.info, columns) &&
                      ref.info->default_model();
    if (!fits) continue;
    if (ref.info->caps & OMEN_CAP_DEFAULT) return ref.info->id;
    if (first.empty()) first = ref.info->id;
  }
  return first;
}

void check_scores(const Table& scores, const Table& candidates, const std::string& who) {
  for (const std::string& column : tables::required_columns(OMEN_TABLE_SCORES))
    if (!scores.has(column))
      throw Error(OMEN_INTERNAL,
                  "plugin misbehaving: " + who + " scored without a column " + column);
  if (scores.rows() != candidates.rows())
    throw Error(OMEN_INTERNAL, "plugin misbehaving: " + who + " gave " +
                                   std::to_string(scores.rows()) + " scores for " +
                                   std::to_string(candidates.rows()) + " candidates");
}

// What failed half-way failed: a ranking of some candidates would mislead.
Table whole_stream(TableStream stream, const RunContext& run, std::int64_t due,
                   const std::string& who) {
  std::optional<Error> failure;
  Table rows = read_until_failure(std::move(stream), run, due, who, failure);
  if (failure) throw *failure;
  return rows;
}

}  // namespace

ReadyScorer::ReadyScorer(const Components& components, const ComponentRef& scorer,
                         const OptionValues& options, const Model& policy, TaskFacts task)
    : components_(components),
      scorer_(scorer),
      task_(std::move(task)),
      handle_(said_by(scorer.info->id, [&] { return components.scorer(scorer, options); })) {
  if (policy.empty()) return;
  if (!handle_.loads())
    throw Error(OMEN_UNSUPPORTED, scorer.info->id + " takes no model", "leave --policy out");
  load_model(handle_, scorer, policy);
}

void ReadyScorer::show(MemoryDataset& dataset, const Tables& inputs) const {
  put_inputs(dataset, inputs);
  task_.tell(dataset);
}

Table ReadyScorer::enumerate(const Tables& inputs) {
  MemoryDataset dataset;
  show(dataset, inputs);
  const RunContext run(components_.settings().run, components_.settings().hooks);
  Table candidates = said_by(scorer_.info->id, [&] {
    return whole_stream(handle_.enumerate(run.c(), dataset.c()), run,
                        std::numeric_limits<std::int64_t>::max(), scorer_.info->id);
  });
  return candidates;
}

Answer ReadyScorer::score(const Tables& inputs) {
  MemoryDataset dataset;
  show(dataset, inputs);
  const RunContext run(components_.settings().run, components_.settings().hooks);
  Answer answer;
  const auto start = std::chrono::steady_clock::now();
  answer.rows = said_by(scorer_.info->id, [&] {
    return whole_stream(handle_.score(run.c(), dataset.c()), run, inputs.at("candidates").rows(),
                        scorer_.info->id);
  });
  answer.seconds = seconds_since(start);
  check_scores(answer.rows, inputs.at("candidates"), scorer_.info->id);
  return answer;
}

std::optional<ComponentRef> known_predictor(const Registry& registry, const ScoringPlan& plan) {
  const Needs needs = prediction_needs(*plan.scorer.info);
  std::string named = plan.predictor;
  std::error_code error;
  if (named.empty() && std::filesystem::is_regular_file(plan.model, error))
    named = read_model_card(plan.model).component;
  if (named.empty() && plan.model.empty() && needs.wanted)
    named = own_predictor(registry, *plan.scorer.info, needs.columns);
  if (named.empty()) return std::nullopt;
  return registry.component(OMEN_PREDICTOR, named);
}

Scoring score(const Components& components, const ScoringPlan& plan, FlagBook& flags) {
  const ComponentInfo& info = *plan.scorer.info;
  const Needs needs = prediction_needs(info);
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  ReadyScorer scorer(components, plan.scorer, options, plan.policy);
  Tables tables = plan.tables;
  add_flag_features(tables, flags, feature_names(info));
  if (!plan.candidates && !scorer.enumerates())
    throw Error(OMEN_INVALID_ARGUMENT, info.id + " does not list candidates by itself",
                "give them as a table with --candidates FILE");
  Scoring result;
  result.candidates = complete_candidates(
      plan.candidates ? *plan.candidates : scorer.enumerate(tables), tables.at("workloads"));

  Tables inputs;
  const bool named_by_user = !plan.predictor.empty() || !plan.model.empty();
  const std::string named = named_by_user || !needs.wanted
                                ? plan.predictor
                                : own_predictor(components.registry(), info, needs.columns);
  if (named_by_user || needs.required || !named.empty()) {
    Models models;
    const Choice choice = choose_predictor(components.registry(), models,
                                           expand_candidates(tables, result.candidates),
                                           dialect_of(tables), named, plan.model);
    flags.sources_for(*choice.predictor.info);
    if (!choice.model.empty())
      add_flag_features(tables, flags, feature_names(choice), choice.model.card().schema);
    const bool native = reads_table(choice.predictor.info->reads, "candidates");
    Tables given = native ? tables : expand_candidates(tables, result.candidates);
    if (native) given["candidates"] = result.candidates;
    const Prediction predicted = predict(components, choice, given, flags);
    if (predicted.failure) throw *predicted.failure;
    result.predictor = choice.predictor.info->id;
    result.predict_seconds = predicted.predict_seconds;
    inputs["predictions"] =
        native ? predicted.rows : collapse_candidates(predicted.rows, result.candidates);
  } else {
    flags.finish();
  }
  inputs["candidates"] = result.candidates;
  inputs.insert(tables.begin(), tables.end());
  Answer answer = scorer.score(inputs);
  result.score_seconds = answer.seconds;
  result.scores = std::move(answer.rows);
  return result;
}

}  // namespace omen::host
