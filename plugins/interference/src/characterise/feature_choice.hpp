// SPDX-License-Identifier: Apache-2.0
// Which columns tell something about a target that no better column tells already.
#pragma once

#include <omen/learn/correlation.hpp>

#include "characterise/job_table.hpp"

namespace omen::interference {

struct FeatureChoice {
  std::string feature;
  learn::Correlated with_target;
  double equivalent = 0;         // Pearson's r of a Gaussian pair with this coefficient
  bool is_known_before = false;  // without running the job
  bool is_chosen = false;
  std::string redundant_with;  // the chosen feature that tells the same; empty: none
};

learn::Correlation parse_coefficient(const std::string& name);
// sin(pi tau / 2) and 2 sin(pi rho / 6): thresholds then mean the same for all three coefficients.
double pearson_equivalent(learn::Correlation kind, double value);

struct ChoiceRules {
  learn::Correlation kind = learn::Correlation::kPearson;
  double least_r2 = 0.5;      // in units of Pearson's r squared
  double most_shared = 0.95;  // |r| to a chosen feature from which another is redundant
  std::vector<std::string> without;
};

// All columns but the target, the strongest first; constant columns last.
std::vector<FeatureChoice> choose_features(const JobTable& table, const std::string& target,
                                           const ChoiceRules& rules);

}  // namespace omen::interference
