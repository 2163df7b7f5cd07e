// SPDX-License-Identifier: Apache-2.0
// The comparison as a terminal shows it: one table a target, and under it what the numbers hide.
#include <algorithm>

#include "report/report.hpp"
#include "report/wording.hpp"
#include "text/render.hpp"

namespace omen::host {
namespace {

using namespace report;

Style verdict_style(stats::Verdict verdict) {
  switch (verdict) {
    case stats::Verdict::kBetter:
      return Style::kGood;
    case stats::Verdict::kWorse:
      return Style::kBad;
    case stats::Verdict::kEquivalent:
      return Style::kAccent;
    case stats::Verdict::kBaseline:
      return Style::kFaint;
    default:
      return Style::kWarn;
  }
}

enum class TargetColumns { kAll, kLosses, kPairs };

TextTable target_table(const Comparison& comparison, const TargetResult& target,
                       TargetColumns columns) {
  const bool losses = columns != TargetColumns::kPairs, pairs = columns != TargetColumns::kLosses;
  std::vector<Heading> headings = {{"", false, true}};
  if (losses)
    headings.insert(headings.end(), {{"coverage", true}, {"median", true}, {"mean", true}});
  if (pairs)
    headings.insert(headings.end(),
                    {{"paired change [95% CI]"}, {"wins/ties/losses"}, {"p (Holm)"}});
  headings.push_back({"verdict"});
  TextTable table(std::move(headings));
  for (std::size_t c = 0; c < target.contestants.size(); ++c) {
    const ContestantResult& result = target.contestants[c];
    const stats::PairedResult& pair = result.versus_baseline;
    const bool reference = comparison.contestants[c].reference, base = c == comparison.baseline;
    const Style style = reference ? Style::kFaint : Style::kPlain;
    std::vector<Cell> row = {{"  " + comparison.contestants[c].label, style}};
    const auto add = [&](std::string text) { row.emplace_back(std::move(text), style); };
    if (losses) {
      add(std::to_string(result.coverage.answered) + "/" +
          std::to_string(result.coverage.workloads));
      add(quantity(result.median_loss, target.loss_unit));
      add(quantity(result.mean_loss, target.loss_unit));
    }
    if (pairs) {
      add(base ? "baseline" : change_words(pair, target.loss_unit));
      add(base || pair.rows == 0 ? ""
                                 : std::to_string(pair.wins) + " / " + std::to_string(pair.ties) +
                                       " / " + std::to_string(pair.losses));
      add(base || pair.rows == 0 ? "" : p_words(pair.p_holm));
    }
    if (base)
      row.emplace_back(pairs ? "" : "baseline", Style::kFaint);
    else
      row.emplace_back(verdict_words(pair), verdict_style(pair.verdict));
    table.add(std::move(row));
  }
  return table;
}

int longest_line(const std::string& text) {
  int longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, display_width(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return longest;
}

// One table where it fits, else losses and pairs below each other: no number is cut.
std::string target_text(const Comparison& comparison, const TargetResult& target,
                        const Terminal& terminal) {
  const TextTable whole = target_table(comparison, target, TargetColumns::kAll);
  if (!terminal.tty || longest_line(whole.text({})) <= terminal.width) return whole.text(terminal);
  return target_table(comparison, target, TargetColumns::kLosses).text(terminal) +
         target_table(comparison, target, TargetColumns::kPairs).text(terminal);
}

std::string note_line(const std::string& text, const Terminal& terminal, Style style) {
  const std::string body = terminal.tty ? wrap(text, terminal.width - 2, 2) : text;
  return "  " + paint(body, style, terminal.colour) + "\n";
}

std::string target_words(const TargetResult& target) {
  const std::string unit =
      target.unit.empty() || target.unit == "1" ? "" : " (" + target.unit + ")";
  return "target " + target.target + unit + ", loss: " + loss_words(target.loss);
}

std::vector<std::size_t> entrants(const Comparison& comparison) {
  std::vector<std::size_t> indices;
  for (std::size_t c = 0; c < comparison.contestants.size(); ++c)
    if (!comparison.contestants[c].reference) indices.push_back(c);
  return indices;
}

// "cost: load 1.31 s / 1.29 s, ..." in the order of the table, references left out.
std::string cost_line(const Comparison& comparison, const TaskResult& task) {
  std::string load, fit, predict, memory;
  for (const std::size_t c : entrants(comparison)) {
    const Cost& cost = task.costs[c];
    const std::string slash = load.empty() ? "" : " / ";
    load += slash + format_duration(cost.load_s);
    fit += slash + format_duration(cost.fit_s);
    predict += slash + short_number(cost.predict_p50_ms);
    memory += slash + format_bytes(static_cast<double>(cost.peak_memory));
  }
  return "cost: load " + load + ", fit " + fit + ", predict p50 " + predict +
         " ms per workload, peak memory " + memory;
}

std::string cost_table(const Comparison& comparison, const TaskResult& task,
                       const Terminal& terminal) {
  TextTable table({{"  cost", false, true},
                   {"load", true},
                   {"fit", true},
                   {"predict p50", true},
                   {"p95", true},
                   {"peak memory", true}});
  for (const std::size_t c : entrants(comparison)) {
    const Cost& cost = task.costs[c];
    table.add({"  " + comparison.contestants[c].label, format_duration(cost.load_s),
               format_duration(cost.fit_s), quantity(cost.predict_p50_ms, "ms"),
               quantity(cost.predict_p95_ms, "ms"),
               format_bytes(static_cast<double>(cost.peak_memory))});
  }
  return table.text(terminal);
}

std::string cost_text(const Comparison& comparison, const TaskResult& task,
                      const Terminal& terminal) {
  constexpr std::size_t kInOneLine = 3;
  if (task.costs.size() != comparison.contestants.size()) return {};
  if (entrants(comparison).size() > kInOneLine) return cost_table(comparison, task, terminal);
  return note_line(cost_line(comparison, task), terminal, Style::kPlain);
}

std::string task_text(const Comparison& comparison, const TaskResult& task,
                      const Terminal& terminal) {
  std::string out = paint("task " + task.task, Style::kStrong, terminal.colour) + "  " +
                    short_digest(task.hash) + "  " + count_words(task.workloads, "workload") +
                    ", " + count_words(task.groups, "group") + "\n";
  for (const TargetResult& target : task.targets) {
    out += target_words(target) + "\n" + target_text(comparison, target, terminal);
    for (const std::string& note : coverage_notes(comparison, target))
      out += note_line(note, terminal, Style::kPlain);
  }
  for (const std::string& note : job_notes(comparison, task))
    out += note_line(note, terminal, Style::kBad);
  if (task.leaking_rows > 0)
    out += note_line("warning: " + leak_words(task) +
                         (task.grouped_targets.empty() ? "" : "; with duplicates kept together:"),
                     terminal, Style::kWarn);
  for (const TargetResult& target : task.grouped_targets)
    out += target_words(target) + ", duplicates kept together\n" +
           target_text(comparison, target, terminal);
  return out + cost_text(comparison, task, terminal);
}

}  // namespace

std::string report_text(const Comparison& comparison, const Terminal& terminal) {
  std::string out;
  if (const std::string mode = mode_words(comparison); !mode.empty())
    out += note_line(mode, terminal, Style::kWarn);
  for (const TaskResult& task : comparison.tasks)
    out += (out.empty() ? "" : "\n") + task_text(comparison, task, terminal);
  if (const std::string ranking = ranking_words(comparison); !ranking.empty())
    out += "\n" + note_line(ranking, terminal, Style::kPlain);
  for (const std::string& warning : comparison.warnings)
    out += note_line("warning: " + warning, terminal, Style::kWarn);
  if (!comparison.directory.empty())
    out += "  report: " + (comparison.directory / kReportPage).string() +
           "   data: " + (comparison.directory / kReportLosses).string() +
           "   repeat: omen rerun " + (comparison.directory / "run.json").string() + "\n";
  return out;
}

}  // namespace omen::host
