// SPDX-License-Identifier: Apache-2.0
// Paired comparison of two sets of losses: cluster bootstrap, signed ranks, Holm, verdict.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace omen::host::stats {

enum class Estimate { kMedian, kMean };

struct PairedSettings {
  Estimate estimate = Estimate::kMedian;
  bool by_group = false;  // rows weigh 1 / size of their group
  double level = 0.95;
  double rope = 0.01;  // relative to the baseline's median (or mean) loss
  int draws = 10000;
  std::uint64_t seed = 1;
};

enum class Verdict { kBaseline, kBetter, kWorse, kEquivalent, kInconclusive, kDifferencesOnly };
const char* verdict_name(Verdict verdict) noexcept;  // "BETTER", ...

struct PairedResult {
  std::int64_t rows = 0, groups = 0;
  double baseline_loss = 0, loss = 0;     // median or mean, as estimated
  double difference = 0, lo = 0, hi = 0;  // loss - baseline, in units of the loss
  double relative = 0, relative_lo = 0,
         relative_hi = 0;                       // by the baseline's loss; NaN where that is 0
  std::string interval;                         // "percentile", "bca", "t"
  double p = 1, p_holm = 1;                     // Wilcoxon on group medians (means)
  std::int64_t wins = 0, ties = 0, losses = 0;  // rows in which the challenger was better, ...
  double effect = 0;                            // matched-pairs rank-biserial correlation
  Verdict verdict = Verdict::kInconclusive;
  std::string warning;  // "7 groups: ...", or empty
};

// Rows of both in the same order; `group` numbers groups 0..n-1.
// p_holm and verdict are provisional until judge().
PairedResult compare_paired(std::span<const double> baseline, std::span<const double> challenger,
                            std::span<const std::int32_t> group, const PairedSettings& settings);
// Holm across all of them (targets and pairs of one comparison), then verdicts.
void judge(std::span<PairedResult> results, double rope);

std::vector<double> holm(std::span<const double> p);

}  // namespace omen::host::stats
