// SPDX-License-Identifier: Apache-2.0
// Paired comparison of two sets of losses: cluster bootstrap, signed ranks, Holm, verdict.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/bootstrap.hpp"

namespace omen::host::stats {

struct PairedSettings {
  Estimate estimate = Estimate::kMedian;
  bool by_group = false;  // rows weigh 1 / size of their group
  double level = 0.95;
  double rope = 0.01;  // relative to the baseline's median (or mean) loss
  int draws = 10000;
  std::uint64_t seed = 1;
  unsigned threads = 1;  // changes no result
};

enum class Verdict { kBaseline, kBetter, kWorse, kEquivalent, kInconclusive, kDifferencesOnly };
// "BASELINE", "BETTER", "WORSE", "EQUIVALENT", "INCONCLUSIVE", "DIFFERENCES_ONLY".
const char* verdict_name(Verdict verdict) noexcept;

struct PairedResult {
  std::int64_t rows = 0, groups = 0;
  double baseline_loss = 0, loss = 0;     // median or mean, as estimated
  double difference = 0, lo = 0, hi = 0;  // loss - baseline, in units of the loss
  double relative = 0, relative_lo = 0,
         relative_hi = 0;                       // by the baseline's loss; NaN where that is 0
  std::string interval;                         // "percentile"; "t" under 20 groups; "" with one
  double p = 1, p_holm = 1;                     // Wilcoxon on group medians (means); NaN under 6
                                                // groups, where only differences are shown
  std::int64_t wins = 0, ties = 0, losses = 0;  // rows in which the challenger was better, ...
  double effect = 0;  // matched-pairs rank-biserial correlation of groups; negative is better
  Verdict verdict = Verdict::kInconclusive;
  std::string warning;  // "7 groups: ...", or empty
};

// Rows of both in the same order; `group` numbers groups in any way. Rows in which either loss is
// not finite are left out, counted in `warning`. lo and hi are NaN with one group, everything with
// none. p_holm and verdict are provisional until judge().
PairedResult compare_paired(std::span<const double> baseline, std::span<const double> challenger,
                            std::span<const std::int32_t> group, const PairedSettings& settings);
// Holm across all of them (targets and pairs of one comparison), then verdicts: EQUIVALENT where
// the interval lies inside +-rope times the baseline's loss; else BETTER or WORSE where it excludes
// 0 and p_holm < 0.05; else INCONCLUSIVE. Results marked kBaseline are left alone; those with fewer
// than 6 groups get no verdict and take no part in Holm's correction.
void judge(std::span<PairedResult> results, double rope);

// Adjusted p values in the order given; NaN stays NaN and is not counted.
std::vector<double> holm(std::span<const double> p);

}  // namespace omen::host::stats
