// SPDX-License-Identifier: Apache-2.0
// Words and documents for the statistics of a trace.
#include "cli/profile_stats.hpp"

#include <cstdio>
#include <filesystem>

#include "cli/console.hpp"
#include "omen/telemetry/imports.hpp"
#include "report/figure.hpp"

namespace omen::host::cli {
namespace {

namespace fs = std::filesystem;
using telemetry::Energy;
using telemetry::LegacyPhases;
using telemetry::OpenRows;
using telemetry::PhaseFigures;
using telemetry::Phases;
using telemetry::RunOutcome;
using telemetry::SeriesPhases;
using telemetry::StepTime;
using telemetry::TraceStats;
using telemetry::WorkloadStats;

std::string where_of(const SeriesPhases& series) {
  return series.device == telemetry::Sample::kWholeMachine ? ""
                                                           : " " + std::to_string(series.device);
}

std::string level_text(const std::string& metric, double level) {
  return metric.ends_with("_bytes") ? format_bytes(level) : format_number(level);
}

std::string percent_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

std::string energy_text(const Energy& energy) {
  std::string text = energy.source;
  if (energy.device >= 0) text += " " + std::to_string(energy.device);
  text += " " + format_number(energy.joules) + " J (" + energy.method + ", " +
          format_number(energy.mean_w) + " W on average";
  if (energy.disagreement) {
    char part[48];
    std::snprintf(part, sizeof part, ", samples give %+.1f %%", 100 * *energy.disagreement);
    text += part;
  }
  return text + ")" + (energy.remark.empty() ? "" : "; " + energy.remark);
}

std::string step_text(const StepTime& step) {
  std::string text = format_duration(step.p50_s) + " a step";
  if (step.method == "marks")
    return text + " (" + format_duration(step.p10_s) + " to " + format_duration(step.p90_s) +
           ", p10 to p90; " + std::to_string(step.steps) + " steps by " + step.signal + ", " +
           std::to_string(step.warm_up_dropped) + " dropped as warm-up)";
  char part[64];
  std::snprintf(part, sizeof part, " (period of %s, correlation %.2f)", step.signal.c_str(),
                step.confidence);
  return text + part;
}

std::string outcome_line(const RunOutcome& outcome) {
  return std::string(outcome.certain ? "" : "probably ") + outcome_text(outcome.outcome) + ": " +
         outcome.reason;
}

std::string phases_line(const SeriesPhases& series) {
  const Phases& p = series.phases;
  std::string text = series.metric + where_of(series) + ": " + verdict_text(p.verdict);
  if (p.start_up_s > 0) text += ", start-up " + format_duration(p.start_up_s);
  if (p.burst.count > 0)
    text += ", burst " + percent_text(p.burst.share) + " at " +
            level_text(series.metric, p.burst.level);
  if (p.verdict == telemetry::IdleVerdict::kIdlePhases)
    text +=
        ", idle " + percent_text(p.idle.share) + " in " + std::to_string(p.idle.count) + " stays";
  if (p.peak.count > 0) text += ", peak " + percent_text(p.peak.share);
  if (p.tear_down_s > 0) text += ", tear-down " + format_duration(p.tear_down_s);
  return text;
}

// Of everything that has phases, the few that people look at first.
bool is_headline(const SeriesPhases& series) {
  return series.metric == "gpu.util_percent" || series.metric == "proc.cpu_percent";
}

void put_figures(JsonWriter& json, const char* name, const PhaseFigures& figures) {
  json.key(name)
      .object()
      .field("count", figures.count)
      .field("seconds", figures.seconds)
      .field("share", figures.share)
      .field("mean_s", figures.mean_s)
      .field("longest_s", figures.longest_s)
      .field("level", figures.level)
      .end();
}

void put_legacy(JsonWriter& json, const LegacyPhases& legacy) {
  json.key("two_clusters").object();
  if (legacy.clusters)
    json.field("low_mean", legacy.clusters->low_mean)
        .field("high_mean", legacy.clusters->high_mean)
        .field("low_max", legacy.clusters->low_max)
        .field("high_min", legacy.clusters->high_min);
  json.field("burst_share", legacy.burst_share)
      .field("idle_share", legacy.idle_share)
      .field("peak_share", legacy.peak_share)
      .field("mean_burst_samples", legacy.mean_burst_run)
      .field("mean_idle_samples", legacy.mean_idle_run)
      .end();
}

void put_series(JsonWriter& json, const SeriesPhases& series) {
  const Phases& p = series.phases;
  json.object()
      .field("metric", series.metric)
      .field("device", series.device)
      .field("rows", series.rows)
      .field("dropped_rows", series.dropped_rows)
      .field("mean", series.mean)
      .field("min", series.min)
      .field("p95", series.p95)
      .field("max", series.max)
      .field("max_30s", series.max_30s)
      .field("verdict", telemetry::verdict_text(p.verdict))
      .field("start_up_s", p.start_up_s)
      .field("tear_down_s", p.tear_down_s)
      .field("edge_share", p.edge_share)
      .field("covered_s", p.covered_s)
      .field("gap_s", p.gap_s)
      .field("idle_below", p.idle_below)
      .field("burst_above", p.burst_above);
  put_figures(json, "idle", p.idle);
  put_figures(json, "burst", p.burst);
  put_figures(json, "peak", p.peak);
  put_legacy(json, series.legacy);
  json.end();
}

void put_energy(JsonWriter& json, const Energy& energy) {
  json.object()
      .field("source", energy.source)
      .field("device", energy.device)
      .field("method", energy.method)
      .field("joules", energy.joules)
      .field("mean_w", energy.mean_w)
      .field("seconds", energy.seconds)
      .field("gap_s", energy.gap_s);
  if (energy.counter_j) json.field("counter_j", *energy.counter_j);
  if (energy.trapezoid_j) json.field("trapezoid_j", *energy.trapezoid_j);
  if (energy.disagreement) json.field("disagreement", *energy.disagreement);
  if (!energy.remark.empty()) json.field("remark", energy.remark);
  json.end();
}

void put_step(JsonWriter& json, const StepTime& step) {
  json.key("step")
      .object()
      .field("method", step.method)
      .field("signal", step.signal)
      .field("steps", step.steps)
      .field("warm_up_dropped", step.warm_up_dropped)
      .field("p10_s", step.p10_s)
      .field("p50_s", step.p50_s)
      .field("p90_s", step.p90_s)
      .field("mad_s", step.mad_s)
      .field("confidence", step.confidence)
      .end();
}

TextTable phases_table(const TraceStats& stats) {
  TextTable table({{"metric", false, true},
                   {"verdict"},
                   {"start-up", true},
                   {"burst", true},
                   {"level", true},
                   {"idle", true},
                   {"level", true},
                   {"stays", true},
                   {"peak", true},
                   {"tear-down", true}});
  for (const WorkloadStats& workload : stats.workloads)
    for (const SeriesPhases& series : workload.series) {
      const Phases& p = series.phases;
      std::string name = series.metric + where_of(series);
      if (stats.workloads.size() > 1) name += " run " + std::to_string(workload.workload_id);
      table.add({name,
                 telemetry::verdict_text(p.verdict),
                 format_duration(p.start_up_s),
                 {percent_text(p.burst.share), Style::kStrong},
                 level_text(series.metric, p.burst.level),
                 percent_text(p.idle.share),
                 level_text(series.metric, p.idle.level),
                 std::to_string(p.idle.count),
                 percent_text(p.peak.share),
                 format_duration(p.tear_down_s)});
    }
  return table;
}

TextTable legacy_table(const TraceStats& stats) {
  TextTable table({{"metric", false, true},
                   {"low", true},
                   {"high", true},
                   {"burst", true},
                   {"idle", true},
                   {"peak", true},
                   {"burst run", true},
                   {"idle run", true}});
  for (const WorkloadStats& workload : stats.workloads)
    for (const SeriesPhases& series : workload.series) {
      const LegacyPhases& l = series.legacy;
      const auto centre = [&](double value) {
        return l.clusters ? level_text(series.metric, value) : std::string("-");
      };
      table.add({series.metric + where_of(series), centre(l.clusters ? l.clusters->low_mean : 0),
                 centre(l.clusters ? l.clusters->high_mean : 0), percent_text(l.burst_share),
                 percent_text(l.idle_share), percent_text(l.peak_share),
                 format_number(l.mean_burst_run), format_number(l.mean_idle_run)});
    }
  return table;
}

// Everything but the phases, one line each.
std::string other_lines(const WorkloadStats& workload) {
  std::string text;
  for (const Energy& energy : workload.energy) text += "energy   " + energy_text(energy) + "\n";
  if (workload.step) text += "step     " + step_text(*workload.step) + "\n";
  if (workload.busy_core_s)
    text += "cpu      " + format_number(*workload.busy_core_s) + " core seconds busy" +
            (workload.user_core_s
                 ? ", " + format_number(*workload.user_core_s) + " of them in user mode"
                 : "") +
            "\n";
  return text;
}

std::string outcome_lines(const RunOutcome& outcome) {
  std::string text = "outcome  " + outcome_line(outcome) + "\n";
  for (const std::string& line : outcome.evidence) text += "         " + line + "\n";
  return text;
}

}  // namespace

std::string stats_text(const TraceStats& stats) {
  std::string text;
  for (const WorkloadStats& workload : stats.workloads) {
    std::string block;
    for (const SeriesPhases& series : workload.series)
      if (is_headline(series)) block += "phases   " + phases_line(series) + "\n";
    block += other_lines(workload);
    // A good end that the headline names already needs no second line.
    const auto kind = workload.outcome.outcome;
    if (kind != telemetry::Outcome::kUnknown &&
        (kind != telemetry::Outcome::kFinished || !workload.outcome.evidence.empty()))
      block += outcome_lines(workload.outcome);
    if (stats.workloads.size() > 1 && !block.empty())
      block = "run " + std::to_string(workload.workload_id) + "\n" + block;
    text += block;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

void put_stats(JsonWriter& json, const TraceStats& stats) {
  json.key("stats").array();
  for (const WorkloadStats& workload : stats.workloads) {
    const RunOutcome& outcome = workload.outcome;
    json.object().field("workload_id", workload.workload_id).key("outcome").object();
    json.field("kind", telemetry::outcome_text(outcome.outcome))
        .field("certain", outcome.certain)
        .field("reason", outcome.reason)
        .strings("evidence", outcome.evidence)
        .end();
    json.key("phases").array();
    for (const SeriesPhases& series : workload.series) put_series(json, series);
    json.end().key("energy").array();
    for (const Energy& energy : workload.energy) put_energy(json, energy);
    json.end();
    if (workload.step) put_step(json, *workload.step);
    if (workload.busy_core_s) json.field("busy_core_s", *workload.busy_core_s);
    if (workload.user_core_s) json.field("user_core_s", *workload.user_core_s);
    json.end();
  }
  json.end();
}

int run_profile_stats(const Globals& globals, const ProfileRequest& request) {
  if (request.words.size() != 2)
    usage_error("omen profile stats takes one trace",
                "write omen profile stats TRACE; a trace without times needs --period 200ms");
  const fs::path trace = request.words[1];
  const telemetry::ImportOptions import{"auto", request.period_s};
  const OpenRows open = [&] { return telemetry::open_trace(trace, import); };
  telemetry::TraceStatsOptions options;
  options.metrics = request.metrics;
  const TraceStats stats = telemetry::trace_stats(open, options);
  if (globals.json) {
    JsonWriter json;
    json.object().field("format_version", 1).field("trace", trace.string());
    put_stats(json, stats);
    print(json.end().text() + "\n");
  } else {
    print_table(globals, request.legacy ? legacy_table(stats) : phases_table(stats));
    for (const WorkloadStats& workload : stats.workloads)
      note(globals, other_lines(workload) + outcome_lines(workload.outcome));
  }
  if (stats.series_left_out > 0)
    note(globals, std::to_string(stats.series_left_out) +
                      " further series were left out; choose some with --metric");
  if (request.output.empty()) return kOk;
  std::error_code error;
  fs::create_directories(request.output, error);
  write_figure(request.output, "phases",
               telemetry::phases_plot_json(open, stats, trace.filename().string()), {});
  note(globals, "wrote " + (fs::path(request.output) / "phases.html").string());
  return kOk;
}

}  // namespace omen::host::cli
