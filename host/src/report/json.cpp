// SPDX-License-Identifier: Apache-2.0
// The comparison as one JSON document; docs/schemas/compare.json describes it.
#include "report/report.hpp"
#include "report/wording.hpp"
#include "text/json_writer.hpp"

namespace omen::host {
namespace {

using namespace report;

void write_contestant(JsonWriter& json, const Contestant& contestant) {
  json.object().field("label", contestant.label).field("component", contestant.component);
  json.field("plugin", contestant.plugin).field("plugin_version", contestant.plugin_version);
  json.field("library_sha256", contestant.library_sha256);
  json.key("options").raw(contestant.options_json.empty() ? "{}" : contestant.options_json);
  json.field("determinism", word_of(contestant.determinism))
      .field("reference", contestant.reference)
      .end();
}

void write_coverage(JsonWriter& json, const Coverage& coverage) {
  json.key("coverage").object().field("workloads", coverage.workloads);
  json.field("answered", coverage.answered).field("extrapolating", coverage.extrapolating);
  json.key("refusals").object();
  for (const auto& [reason, rows] : coverage.refusals) json.field(reason, rows);
  json.end().end();
}

void write_confusion(JsonWriter& json, const stats::Confusion& confusion) {
  if (confusion.classes.empty()) return;
  json.key("confusion").object().strings("classes", confusion.classes).key("counts").array();
  for (const std::int64_t count : confusion.counts) json.value(count);
  json.end().end();
}

void write_target(JsonWriter& json, const Comparison& comparison, const TargetResult& target,
                  const char* folds) {
  json.object().field("target", target.target).field("unit", target.unit);
  json.field("kind", word_of(target.kind))
      .field("loss", word_of(target.loss))
      .field("loss_unit", target.loss_unit);
  json.field("folds", folds).key("results").array();
  for (std::size_t c = 0; c < target.contestants.size(); ++c) {
    const ContestantResult& result = target.contestants[c];
    json.object().field("contestant", comparison.contestants[c].label);
    write_coverage(json, result.coverage);
    json.field("median_loss", result.median_loss).field("mean_loss", result.mean_loss);
    json.key("metrics").array();
    for (const stats::Metric& metric : result.metrics)
      json.object()
          .field("name", metric.name)
          .field("value", metric.value)
          .field("unit", metric.unit)
          .field("lower_is_better", metric.lower_is_better)
          .end();
    json.end();
    write_confusion(json, result.confusion);
    json.end();
  }
  json.end().end();
}

void write_costs(JsonWriter& json, const Comparison& comparison, const TaskResult& task) {
  json.key("costs").array();
  for (std::size_t c = 0; c < task.costs.size(); ++c) {
    const Cost& cost = task.costs[c];
    json.object().field("contestant", comparison.contestants[c].label);
    json.field("load_s", cost.load_s).field("fit_s", cost.fit_s);
    json.field("predict_p50_ms", cost.predict_p50_ms).field("predict_p95_ms", cost.predict_p95_ms);
    json.field("peak_memory", cost.peak_memory).end();
  }
  json.end();
}

void write_curves(JsonWriter& json, const Comparison& comparison, const TaskResult& task) {
  json.key("curves").array();
  for (std::size_t c = 0; c < task.curves.size(); ++c)
    for (const Curve& curve : task.curves[c]) {
      json.object().field("contestant", comparison.contestants[c].label);
      json.field("fold", curve.fold).field("metric", curve.metric).key("steps").array();
      for (const std::int64_t step : curve.steps) json.value(step);
      json.end().key("values").array();
      for (const double value : curve.values) json.value(value);
      json.end().end();
    }
  json.end();
}

void write_task(JsonWriter& json, const Comparison& comparison, const TaskResult& task) {
  json.object().field("task", task.task).field("hash", task.hash).field("file", task.file);
  json.field("dataset", task.dataset).field("dataset_digest", task.dataset_digest);
  json.field("split", task.split).field("workloads", task.workloads).field("groups", task.groups);
  json.field("rope", task.rope).field("leaking_rows", task.leaking_rows);
  json.key("targets").array();
  for (const TargetResult& target : task.targets) write_target(json, comparison, target, kAsSplit);
  for (const TargetResult& target : task.grouped_targets)
    write_target(json, comparison, target, kDuplicatesTogether);
  json.end();
  write_costs(json, comparison, task);
  write_curves(json, comparison, task);
  json.end();
}

void write_pair(JsonWriter& json, const Comparison& comparison, const Pair& pair) {
  const stats::PairedResult& r = *pair.result;
  json.object().field("task", pair.task->task).field("target", pair.target->target);
  json.field("folds", pair.folds);
  json.field("contestant", comparison.contestants[pair.contestant].label);
  json.field("baseline", comparison.contestants[comparison.baseline].label);
  json.field("rows", r.rows).field("groups", r.groups).field("loss_unit", pair.target->loss_unit);
  json.field("baseline_loss", r.baseline_loss).field("loss", r.loss);
  json.field("difference", r.difference).field("lo", r.lo).field("hi", r.hi);
  json.field("relative", r.relative).field("relative_lo", r.relative_lo);
  json.field("relative_hi", r.relative_hi).field("interval", r.interval);
  json.field("p", r.p).field("p_holm", r.p_holm);
  json.field("wins", r.wins).field("ties", r.ties).field("losses", r.losses);
  json.field("effect", r.effect).field("verdict", stats::verdict_name(r.verdict));
  json.field("warning", r.warning).end();
}

void write_ranking(JsonWriter& json, const Comparison& comparison) {
  const stats::Ranking& ranking = comparison.ranking;
  json.key("ranking");
  if (ranking.mean_ranks.empty()) {
    json.null();
    return;
  }
  const auto label = [&](std::size_t c) { return comparison.contestants[c].label; };
  json.object().key("mean_ranks").array();
  for (std::size_t c = 0; c < ranking.mean_ranks.size(); ++c)
    json.object().field("contestant", label(c)).field("rank", ranking.mean_ranks[c]).end();
  json.end().field("chi_squared", ranking.chi_squared).field("p", ranking.p);
  json.key("indistinguishable").array();
  for (const std::vector<int>& group : ranking.indistinguishable) {
    json.array();
    for (const int c : group) json.value(label(static_cast<std::size_t>(c)));
    json.end();
  }
  json.end().field("warning", ranking.warning).end();
}

void write_jobs(JsonWriter& json, const Comparison& comparison) {
  json.key("jobs").array();
  for (const JobRecord& job : comparison.jobs)
    json.object()
        .field("contestant", job.contestant)
        .field("task", job.task)
        .field("fold", job.fold)
        .field("outcome", word_of(job.outcome))
        .field("message", job.message)
        .field("digest", job.digest)
        .field("reused", job.reused)
        .end();
  json.end();
}

}  // namespace

std::string report_json(const Comparison& comparison) {
  JsonWriter json;
  json.object().field("format_version", 1).field("id", comparison.id);
  json.field("time", comparison.time).field("command_line", comparison.command_line);
  json.field("revision", comparison.revision);
  json.key("machine").raw(comparison.machine_json.empty() ? "{}" : comparison.machine_json);
  json.field("seed", comparison.seed).field("threads", comparison.threads);
  json.field("seconds", comparison.seconds).field("directory", comparison.directory.string());
  json.field("self_check", comparison.self_check);
  json.field("shuffled_labels", comparison.shuffled_labels);
  json.field("baseline", comparison.contestants[comparison.baseline].label);
  json.key("contestants").array();
  for (const Contestant& contestant : comparison.contestants) write_contestant(json, contestant);
  json.end().key("tasks").array();
  for (const TaskResult& task : comparison.tasks) write_task(json, comparison, task);
  json.end().key("pairs").array();
  for (const Pair& pair : pairs_of(comparison)) write_pair(json, comparison, pair);
  json.end();
  write_ranking(json, comparison);
  write_jobs(json, comparison);
  return json.strings("warnings", comparison.warnings).end().text();
}

}  // namespace omen::host
