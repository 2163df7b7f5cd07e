// SPDX-License-Identifier: Apache-2.0
// Paired comparison of two sets of losses: cluster bootstrap, signed ranks, Holm, verdict.
#include "stats/paired.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "omen/error.hpp"
#include "stats/intervals.hpp"
#include "stats/signed_rank.hpp"

namespace omen::host::stats {
namespace {

constexpr double kNoPaired = std::numeric_limits<double>::quiet_NaN();
constexpr double kSignificant = 0.05;
constexpr std::int64_t kGroupsForVerdict = 6;
constexpr std::int64_t kGroupsForPercentiles = 20;

struct Pairs {
  std::vector<double> baseline, challenger, difference;
  std::vector<std::int32_t> group;
  std::size_t left_out = 0;
};

Pairs finite_pairs(std::span<const double> baseline, std::span<const double> challenger,
                   std::span<const std::int32_t> group) {
  if (baseline.size() != challenger.size() || baseline.size() != group.size())
    throw Error(OMEN_INVALID_ARGUMENT, "paired losses and groups differ in length");
  Pairs pairs;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    if (!std::isfinite(baseline[i]) || !std::isfinite(challenger[i])) {
      ++pairs.left_out;
      continue;
    }
    pairs.baseline.push_back(baseline[i]);
    pairs.challenger.push_back(challenger[i]);
    pairs.difference.push_back(challenger[i] - baseline[i]);
    pairs.group.push_back(group[i]);
  }
  return pairs;
}

void add_warning(PairedResult& result, const std::string& text) {
  if (!result.warning.empty()) result.warning += "; ";
  result.warning += text;
}

void count_signs(PairedResult& result, std::span<const double> differences) {
  for (const double d : differences) ++(d < 0 ? result.wins : d > 0 ? result.losses : result.ties);
}

void set_interval(PairedResult& result, const GroupedSample& sample,
                  const PairedSettings& settings) {
  result.lo = result.hi = kNoPaired;
  if (result.groups < 2) return;
  std::vector<double> draws = sample.bootstrap(settings.draws, settings.seed, settings.threads);
  Interval interval{};
  if (result.groups >= kGroupsForPercentiles) {
    result.interval = "percentile";
    interval = percentile_interval(std::move(draws), settings.level);
  } else {
    result.interval = "t";
    interval = t_interval(draws, result.difference, sample.groups(), settings.level);
    add_warning(result, std::to_string(result.groups) +
                            " groups: Student's t interval, because percentile intervals need " +
                            std::to_string(kGroupsForPercentiles));
  }
  result.lo = interval.lo;
  result.hi = interval.hi;
}

void set_relative(PairedResult& result) {
  const double base = result.baseline_loss > 0 ? result.baseline_loss : kNoPaired;
  result.relative = result.difference / base;
  result.relative_lo = result.lo / base;
  result.relative_hi = result.hi / base;
}

void set_test(PairedResult& result, const GroupedSample& sample) {
  const SignedRank test = signed_rank(sample.of_groups());
  result.effect = test.effect;
  result.p = result.groups < kGroupsForVerdict ? kNoPaired : test.p;
  if (result.groups < kGroupsForVerdict)
    add_warning(result, std::to_string(result.groups) + " groups: differences only, because a " +
                            "verdict needs " + std::to_string(kGroupsForVerdict));
  else if (result.p < kSignificant && result.effect * result.difference < 0)
    add_warning(result, "most rows point one way, most groups the other");
}

Verdict verdict_of(const PairedResult& result, double rope) {
  const double region = rope * std::abs(result.baseline_loss);
  if (result.lo >= -region && result.hi <= region) return Verdict::kEquivalent;
  if (result.p_holm < kSignificant && result.hi < 0) return Verdict::kBetter;
  if (result.p_holm < kSignificant && result.lo > 0) return Verdict::kWorse;
  return Verdict::kInconclusive;
}

}  // namespace

const char* verdict_name(Verdict verdict) noexcept {
  static constexpr const char* kNames[] = {"BASELINE",   "BETTER",       "WORSE",
                                           "EQUIVALENT", "INCONCLUSIVE", "DIFFERENCES_ONLY"};
  return kNames[static_cast<int>(verdict)];
}

PairedResult compare_paired(std::span<const double> baseline, std::span<const double> challenger,
                            std::span<const std::int32_t> group, const PairedSettings& settings) {
  const Pairs pairs = finite_pairs(baseline, challenger, group);
  const auto estimate = [&](std::span<const double> values) {
    return location(values, pairs.group, settings.by_group, settings.estimate);
  };
  const GroupedSample sample(pairs.difference, pairs.group, settings.by_group, settings.estimate);
  PairedResult result;
  result.rows = static_cast<std::int64_t>(pairs.difference.size());
  result.groups = static_cast<std::int64_t>(sample.groups());
  if (pairs.left_out > 0)
    add_warning(result, std::to_string(pairs.left_out) + " rows without a finite loss left out");
  result.baseline_loss = estimate(pairs.baseline);
  result.loss = estimate(pairs.challenger);
  result.difference = sample.estimate();
  count_signs(result, pairs.difference);
  set_interval(result, sample, settings);
  set_relative(result);
  set_test(result, sample);
  judge({&result, 1}, settings.rope);
  return result;
}

void judge(std::span<PairedResult> results, double rope) {
  std::vector<double> p;
  for (const PairedResult& result : results)
    p.push_back(result.verdict == Verdict::kBaseline ? kNoPaired : result.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < results.size(); ++i) {
    PairedResult& result = results[i];
    if (result.verdict == Verdict::kBaseline) continue;
    result.p_holm = adjusted[i];
    result.verdict =
        result.groups < kGroupsForVerdict ? Verdict::kDifferencesOnly : verdict_of(result, rope);
  }
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size(), kNoPaired);
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p[order[i]] * static_cast<double>(order.size() - i));
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace omen::host::stats
