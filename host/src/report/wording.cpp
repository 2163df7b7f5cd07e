// SPDX-License-Identifier: Apache-2.0
// Sentences and rounded numbers, worded once for the terminal, Markdown and the page.
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

namespace omen::host::report {
namespace {

// What rounds to zero has no sign.
std::string decimals(double value, int places, bool sign) {
  char text[64];
  std::snprintf(text, sizeof text, sign ? "%+.*f" : "%.*f", places, value);
  const bool zero = std::string_view(text).find_first_of("123456789") == std::string_view::npos;
  return zero && (text[0] == '+' || text[0] == '-') ? text + 1 : text;
}

// Places after the point that give `size` three significant digits.
int places_for(double size) {
  if (size == 0 || !std::isfinite(size)) return 0;
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
}

void add_pairs(std::vector<Pair>& pairs, const Comparison& comparison, const TaskResult& task,
               const std::vector<TargetResult>& targets, const char* folds) {
  for (const TargetResult& target : targets)
    for (std::size_t c = 0; c < target.contestants.size(); ++c)
      if (c != comparison.baseline)
        pairs.push_back({&task, &target, folds, c, &target.contestants[c].versus_baseline});
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string outcome_words(std::optional<Outcome> outcome) {
  if (outcome == Outcome::kCrashed) return "crashed";
  if (outcome == Outcome::kTimeout) return "ran out of time";
  if (outcome == Outcome::kOom) return "ran out of memory";
  if (outcome == Outcome::kRefused) return "refused";
  return "failed";
}

// Rows of a job that failed carry its outcome and message; all other reasons are refusals.
std::string missing_words(const std::string& label, const std::string& reason) {
  const std::string word = reason.substr(0, reason.find(':'));
  const auto outcome = from_word<Outcome>(word);
  if (outcome && *outcome != Outcome::kOk && *outcome != Outcome::kRefused)
    return " without an answer from " + label + ", which " + outcome_words(outcome);
  const bool whole_job = outcome == Outcome::kRefused && reason.size() > word.size() + 2;
  return " refused by " + label + " (" + (whole_job ? reason.substr(word.size() + 2) : reason) +
         ")";
}

}  // namespace

std::vector<Pair> pairs_of(const Comparison& comparison) {
  std::vector<Pair> pairs;
  for (const TaskResult& task : comparison.tasks) {
    add_pairs(pairs, comparison, task, task.targets, kAsSplit);
    add_pairs(pairs, comparison, task, task.grouped_targets, kDuplicatesTogether);
  }
  return pairs;
}

std::string loss_words(Loss loss) {
  switch (loss) {
    case Loss::kAbsolute:
      return "absolute error";
    case Loss::kSquared:
      return "squared error";
    case Loss::kAbsolutePercent:
      return "absolute % error";
    case Loss::kZeroOne:
      return "share of wrong classes";
    case Loss::kLogLoss:
      return "log loss";
    case Loss::kRegret:
      return "regret against the best candidate";
    case Loss::kOpen:
      break;
  }
  return {};
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e9)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", value);
    return text;
  }
  return decimals(value, places_for(size), false);
}

std::string quantity(double value, const std::string& unit) {
  const std::string number = short_number(value);
  return unit.empty() || unit == "1" || !std::isfinite(value) ? number : number + " " + unit;
}

std::string difference_unit(const std::string& loss_unit) {
  return loss_unit == "%" ? "pp" : loss_unit == "1" ? "" : loss_unit;
}

std::string change_words(const stats::PairedResult& result, const std::string& loss_unit) {
  if (result.rows == 0 || !std::isfinite(result.difference)) return "no paired workloads";
  const std::string unit = difference_unit(loss_unit);
  const bool has_interval = std::isfinite(result.lo) && std::isfinite(result.hi);
  double size = std::fabs(result.difference);
  if (has_interval) size = std::max({size, std::fabs(result.lo), std::fabs(result.hi)});
  const bool scientific = size != 0 && (size < 1e-4 || size >= 1e9);
  const auto number = [&](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%+.2e", value);
    return scientific ? std::string(text) : decimals(value, places_for(size), true);
  };
  std::string text = number(result.difference) + (unit.empty() ? "" : " " + unit);
  if (has_interval) text += " [" + number(result.lo) + ", " + number(result.hi) + "]";
  return text;
}

std::string p_words(double p) {
  if (std::isnan(p)) return "-";
  if (p < 0.0001) return "<0.0001";
  return decimals(p, p < 0.1 ? 4 : 2, false);
}

std::string verdict_words(const stats::PairedResult& result) {
  if (result.rows == 0) return "NO ANSWERS";
  std::string words = stats::verdict_name(result.verdict);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string short_digest(const std::string& digest) {
  constexpr std::size_t kShown = 8;
  const std::string hex = digest.starts_with("sha256:") ? digest.substr(7) : digest;
  return hex.empty() ? "" : "sha256:" + hex.substr(0, kShown);
}

std::string count_words(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<std::string> coverage_notes(const Comparison& comparison, const TargetResult& target) {
  std::vector<std::string> notes, outside, warnings;
  std::map<std::string, std::vector<std::string>> warned;
  for (std::size_t c = 0; c < target.contestants.size(); ++c) {
    const Coverage& coverage = target.contestants[c].coverage;
    const std::string& label = comparison.contestants[c].label;
    for (const auto& [reason, rows] : coverage.refusals)
      notes.push_back(count_words(rows, "workload") + missing_words(label, reason) +
                      "; excluded from the pairing, counted in coverage");
    if (coverage.extrapolating > 0)
      outside.push_back(label + " " + std::to_string(coverage.extrapolating));
    const std::string& warning = target.contestants[c].versus_baseline.warning;
    if (warning.empty()) continue;
    if (warned[warning].empty()) warnings.push_back(warning);
    warned[warning].push_back(label);
  }
  if (!outside.empty())
    notes.push_back("answers outside what a predictor was trained on: " + listed(outside));
  for (const std::string& warning : warnings)
    notes.push_back(warned[warning].size() + 1 >= target.contestants.size()
                        ? warning
                        : listed(warned[warning]) + ": " + warning);
  return notes;
}

std::vector<std::string> job_notes(const Comparison& comparison, const TaskResult& task) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::string>> folds;
  for (const JobRecord& job : comparison.jobs)
    if (job.task == task.task && job.outcome != Outcome::kOk)
      folds[{job.contestant, word_of(job.outcome), job.message}].push_back(job.fold);
  std::vector<std::string> notes;
  for (const auto& [key, names] : folds) {
    const auto& [contestant, outcome, message] = key;
    notes.push_back(contestant + " " + outcome_words(from_word<Outcome>(outcome)) + " in fold" +
                    (names.size() == 1 ? " " : "s ") + listed(names) +
                    (message.empty() ? "" : ": " + message));
  }
  return notes;
}

std::string ranking_words(const Comparison& comparison) {
  const stats::Ranking& ranking = comparison.ranking;
  if (ranking.mean_ranks.empty()) return {};
  std::vector<std::size_t> order(ranking.mean_ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ranking.mean_ranks[a] < ranking.mean_ranks[b];
  });
  std::vector<std::string> ranks;
  for (const std::size_t c : order)
    ranks.push_back(comparison.contestants[c].label + " " +
                    decimals(ranking.mean_ranks[c], 2, false));
  std::string text = "mean ranks over " +
                     count_words(static_cast<std::int64_t>(comparison.tasks.size()), "task") +
                     ": " + listed(ranks);
  if (!ranking.warning.empty()) return text + "; " + ranking.warning;
  text += "; Friedman p " + p_words(ranking.p);
  for (const std::vector<int>& group : ranking.indistinguishable) {
    std::vector<std::string> labels;
    for (const int c : group)
      labels.push_back(comparison.contestants[static_cast<std::size_t>(c)].label);
    text += "; cannot be told apart: " + listed(labels);
  }
  return text;
}

std::string leak_words(const TaskResult& task) {
  if (task.leaking_rows == 0) return {};
  return std::to_string(task.leaking_rows) + " of " + count_words(task.workloads, "test row") +
         " have a near-duplicate in the training rows of their fold";
}

std::string mode_words(const Comparison& comparison) {
  std::string text;
  if (comparison.self_check)
    text =
        "self-check: a predictor against itself, so anything but EQUIVALENT or INCONCLUSIVE is "
        "a fault of the harness";
  if (comparison.shuffled_labels)
    text += std::string(text.empty() ? "" : "; ") +
            "labels were shuffled: nothing can be learned, so every error should be close to the "
            "constant's";
  return text;
}

}  // namespace omen::host::report
