// SPDX-License-Identifier: Apache-2.0
// Ranks candidates: lists them, predicts each with a predictor that the scorer can use, and asks
// the scorer.
#include <algorithm>
#include <chrono>

#include "components/withheld.hpp"
#include "omen/reads.hpp"
#include "omen/tables.hpp"
#include "pipeline.hpp"
#include "pipeline/models.hpp"

namespace omen::host {
namespace {

double scoring_seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

std::string dialect_of(const Tables& tables) {
  const auto nodes = tables.find("nodes");
  return nodes == tables.end() ? "" : nodes->second.metadata("omen.dialect");
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

}  // namespace

Scoring score(const Components& components, const ScoringPlan& plan, FlagBook& flags) {
  const ComponentInfo& info = *plan.scorer.info;
  const Needs needs = prediction_needs(info);
  const OptionValues options = resolve_options(info, flags.sources_for(info));
  ScorerHandle handle = components.scorer(plan.scorer, options);
  if (!plan.policy.empty() && !handle.loads())
    throw Error(OMEN_UNSUPPORTED, info.id + " takes no model", "leave --policy out");
  if (!plan.policy.empty()) load_model(handle, plan.scorer, plan.policy);

  Tables tables = plan.tables;
  add_flag_features(tables, flags, feature_names(info));
  Scoring result;
  const RunContext run(components.settings().run, components.settings().hooks);
  MemoryDataset workloads;
  put_inputs(workloads, tables);
  if (plan.candidates) {
    result.candidates = complete_candidates(*plan.candidates, tables.at("workloads"));
  } else if (handle.enumerates()) {
    result.candidates = handle.enumerate(run.c(), workloads.c()).read_all();
    result.candidates.validate();
    result.candidates = complete_candidates(result.candidates, tables.at("workloads"));
  } else {
    throw Error(OMEN_INVALID_ARGUMENT, info.id + " does not list candidates by itself",
                "give them as a table with --candidates FILE");
  }

  MemoryDataset dataset;
  dataset.put("candidates", result.candidates);
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
    dataset.put("predictions",
                native ? predicted.rows : collapse_candidates(predicted.rows, result.candidates));
  } else {
    flags.finish();
  }
  put_inputs(dataset, tables);
  const auto start = std::chrono::steady_clock::now();
  result.scores = handle.score(run.c(), dataset.c()).read_all();
  result.score_seconds = scoring_seconds_since(start);
  result.scores.validate();
  check_scores(result.scores, result.candidates, info.id);
  return result;
}

}  // namespace omen::host
