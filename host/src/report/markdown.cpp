// SPDX-License-Identifier: Apache-2.0
// The comparison as Markdown, for issues, pull requests and notebooks.
#include <algorithm>

#include "report/report.hpp"
#include "report/wording.hpp"
#include "text/render.hpp"

namespace omen::host {
namespace {

using namespace report;

// Text from outside must stay text: no table cell, emphasis, link or HTML of its own.
std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string verdict_cell(const stats::PairedResult& pair) {
  const std::string name = verdict_words(pair);
  const bool clear =
      pair.verdict == stats::Verdict::kBetter || pair.verdict == stats::Verdict::kWorse;
  return clear ? "**" + name + "**" : name;
}

std::string target_rows(const Comparison& comparison, const TargetResult& target) {
  std::string out =
      "| | coverage | median | mean | paired change [95 % CI] | wins / ties / losses | p (Holm) | "
      "verdict |\n|---|---:|---:|---:|---|---|---:|---|\n";
  for (std::size_t c = 0; c < target.contestants.size(); ++c) {
    const ContestantResult& result = target.contestants[c];
    const stats::PairedResult& pair = result.versus_baseline;
    const bool base = c == comparison.baseline;
    const bool paired = !base && pair.rows > 0;
    out += "| " + escape(comparison.contestants[c].label) +
           (comparison.contestants[c].reference ? " (reference)" : "") + " | " +
           std::to_string(result.coverage.answered) + "/" +
           std::to_string(result.coverage.workloads) + " | " +
           quantity(result.median_loss, target.loss_unit) + " | " +
           quantity(result.mean_loss, target.loss_unit) + " | " +
           (base ? "baseline" : change_words(pair, target.loss_unit)) + " | " +
           (paired ? std::to_string(pair.wins) + " / " + std::to_string(pair.ties) + " / " +
                         std::to_string(pair.losses)
                   : "") +
           " | " + (paired ? p_words(pair.p_holm) : "") + " | " + (base ? "" : verdict_cell(pair)) +
           " |\n";
  }
  return out;
}

std::string target_section(const Comparison& comparison, const TargetResult& target,
                           const std::string& suffix) {
  const bool has_unit = !target.unit.empty() && target.unit != "1";
  std::string out = "### " + escape(target.target) +
                    (has_unit ? " (" + escape(target.unit) + ")" : "") + suffix +
                    "\n\nLoss: " + escape(loss_words(target.loss)) + ".\n\n" +
                    target_rows(comparison, target) + "\n";
  std::string notes;
  for (const std::string& note : coverage_notes(comparison, target))
    notes += "- " + escape(note) + "\n";
  return notes.empty() ? out : out + notes + "\n";
}

std::string cost_section(const Comparison& comparison, const TaskResult& task) {
  if (task.costs.size() != comparison.contestants.size()) return {};
  std::string out =
      "| cost | load | fit | predict p50 | predict p95 | peak memory "
      "|\n|---|---:|---:|---:|---:|---:|"
      "\n";
  for (std::size_t c = 0; c < task.costs.size(); ++c) {
    const Cost& cost = task.costs[c];
    out += "| " + escape(comparison.contestants[c].label) + " | " + format_duration(cost.load_s) +
           " | " + format_duration(cost.fit_s) + " | " + quantity(cost.predict_p50_ms, "ms") +
           " | " + quantity(cost.predict_p95_ms, "ms") + " | " +
           format_bytes(static_cast<double>(cost.peak_memory)) + " |\n";
  }
  return out + "\n";
}

std::string task_section(const Comparison& comparison, const TaskResult& task) {
  std::string out = "## " + escape(task.task) + "\n\n" + count_words(task.workloads, "workload") +
                    ", " + count_words(task.groups, "group") + ", split " + escape(task.split) +
                    ", task `" + short_digest(task.hash) + "`.\n\n";
  for (const TargetResult& target : task.targets) out += target_section(comparison, target, "");
  std::string notes;
  for (const std::string& note : job_notes(comparison, task)) notes += "- " + escape(note) + "\n";
  if (task.leaking_rows > 0) notes += "- Warning: " + escape(leak_words(task)) + ".\n";
  if (!notes.empty()) out += notes + "\n";
  for (const TargetResult& target : task.grouped_targets)
    out += target_section(comparison, target, ", duplicates kept together");
  return out + cost_section(comparison, task);
}

}  // namespace

std::string report_markdown(const Comparison& comparison) {
  std::string out = "# Comparison " + escape(comparison.id) +
                    "\n\nBaseline: " + escape(comparison.contestants[comparison.baseline].label) +
                    ". " + escape(comparison.time) + ", seed " + std::to_string(comparison.seed) +
                    ".\n\n";
  if (const std::string mode = mode_words(comparison); !mode.empty())
    out += "> " + escape(mode) + "\n\n";
  for (const TaskResult& task : comparison.tasks) out += task_section(comparison, task);
  if (const std::string ranking = ranking_words(comparison); !ranking.empty())
    out += "## Ranking\n\n" + escape(ranking) + ".\n\n";
  for (const std::string& warning : comparison.warnings)
    out += "- Warning: " + escape(warning) + "\n";
  if (!comparison.warnings.empty()) out += "\n";
  std::string command = comparison.command_line;
  std::replace(command.begin(), command.end(), '\n', ' ');
  return out + "Command:\n\n    " + command + "\n";
}

}  // namespace omen::host
