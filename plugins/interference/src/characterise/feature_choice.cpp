// SPDX-License-Identifier: Apache-2.0
// Ranks columns by their correlation with a target and drops what repeats.
#include "characterise/feature_choice.hpp"

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>
#include <set>

namespace omen::interference {
namespace {

using learn::Correlation;

struct CoefficientName {
  Correlation kind;
  const char* name;
};
constexpr CoefficientName kCoefficientNames[] = {{Correlation::kPearson, "pearson"},
                                                 {Correlation::kSpearman, "spearman"},
                                                 {Correlation::kKendall, "kendall"}};

// Everything else in the published table was read while the job ran, or after it.
bool is_known_before_run(const std::string& name) {
  static const std::set<std::string> known = {"Model",   "Dataset",    "Epoch",     "BS",
                                              "Run_Env", "Cor_in_Sys", "SMU_total", "DU_total",
                                              "batch",   "family"};
  return known.count(name) > 0;
}

}  // namespace

Correlation parse_coefficient(const std::string& name) {
  for (const CoefficientName& known : kCoefficientNames)
    if (name == known.name) return known.kind;
  throw Error(OMEN_INVALID_ARGUMENT, "there is no coefficient '" + name + "'",
              "Known are pearson, spearman and kendall.");
}

double pearson_equivalent(Correlation kind, double value) {
  if (kind == Correlation::kKendall) return std::sin(M_PI * value / 2);
  if (kind == Correlation::kSpearman) return 2 * std::sin(M_PI * value / 6);
  return value;
}

std::vector<FeatureChoice> choose_features(const JobTable& table, const std::string& target,
                                           const ChoiceRules& rules) {
  const std::vector<double>& y = table.column(target);
  std::vector<FeatureChoice> all;
  for (const std::string& name : table.names()) {
    if (name == target ||
        std::find(rules.without.begin(), rules.without.end(), name) != rules.without.end())
      continue;
    FeatureChoice made;
    made.feature = name;
    made.with_target = learn::correlate(rules.kind, table.column(name), y);
    made.equivalent = pearson_equivalent(rules.kind, made.with_target.value);
    made.is_known_before = is_known_before_run(name);
    all.push_back(std::move(made));
  }
  const auto strength = [](const FeatureChoice& one) {
    return std::isnan(one.equivalent) ? -1 : one.equivalent * one.equivalent;
  };
  std::stable_sort(all.begin(), all.end(), [&](const FeatureChoice& a, const FeatureChoice& b) {
    return strength(a) > strength(b);
  });
  std::vector<const FeatureChoice*> chosen;
  for (FeatureChoice& one : all) {
    if (!(strength(one) > rules.least_r2)) continue;
    for (const FeatureChoice* kept : chosen) {
      const double shared = pearson_equivalent(
          rules.kind,
          learn::correlate(rules.kind, table.column(one.feature), table.column(kept->feature))
              .value);
      if (one.redundant_with.empty() && std::abs(shared) >= rules.most_shared)
        one.redundant_with = kept->feature;
    }
    one.is_chosen = one.redundant_with.empty();
    if (one.is_chosen) chosen.push_back(&one);
  }
  return all;
}

}  // namespace omen::interference
