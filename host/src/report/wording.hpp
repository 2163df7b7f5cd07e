// SPDX-License-Identifier: Apache-2.0
// Words and numbers that every form of a comparison's report shares.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace omen::host::report {

// Which folds a result comes from: those of the task, or folds that keep near-duplicates together.
inline constexpr const char* kAsSplit = "as-split";
inline constexpr const char* kDuplicatesTogether = "duplicates-together";

// A challenger held against the baseline on one target of one task.
struct Pair {
  const TaskResult* task;
  const TargetResult* target;
  const char* folds;
  std::size_t contestant;
  const stats::PairedResult* result;
};
// Tasks, targets and contestants in their order; the grouped results of a task follow its own.
std::vector<Pair> pairs_of(const Comparison& comparison);

// "absolute % error" for "absolute-percent".
std::string loss_words(Loss loss);
// Three significant digits, never cutting the whole part; "-" for NaN.
std::string short_number(double value);
// With its unit: "9.1 %", "0.42 ms".
std::string quantity(double value, const std::string& unit);
// The unit of a difference: percentage points for losses in per cent.
std::string difference_unit(const std::string& loss_unit);
// "-2.40 pp [-3.30, -1.60]"; "no paired workloads" where nothing could be paired.
std::string change_words(const stats::PairedResult& result, const std::string& loss_unit);
std::string p_words(double p);
// "BETTER", "DIFFERENCES ONLY"; "NO ANSWERS" where nothing could be paired.
std::string verdict_words(const stats::PairedResult& result);
// "sha256:41c0a2b3".
std::string short_digest(const std::string& digest);
// "3 workloads", "1 group".
std::string count_words(std::int64_t count, const std::string& noun);

// Why rows of this target are missing or weak, contestant by contestant, as sentences.
std::vector<std::string> coverage_notes(const Comparison& comparison, const TargetResult& target);
// Jobs of a task that did not end well, one sentence per contestant and reason.
std::vector<std::string> job_notes(const Comparison& comparison, const TaskResult& task);
// Mean ranks, Friedman's p and what cannot be told apart; empty where ranks were not computed.
std::string ranking_words(const Comparison& comparison);
// "12 of 240 test rows have a near-duplicate ...".
std::string leak_words(const TaskResult& task);
// What --aa and --shuffle-labels mean for the reader; empty without them.
std::string mode_words(const Comparison& comparison);

}  // namespace omen::host::report
