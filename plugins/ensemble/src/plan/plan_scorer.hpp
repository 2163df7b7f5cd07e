// SPDX-License-Identifier: Apache-2.0
// Scorer `ensemble.plan`: how an ensemble should share its data and its accelerators.
#pragma once

#include <omen/plugin.hpp>

#include "plan/schedule.hpp"

namespace omen::ensemble {

struct PlanScorerOptions {
  std::string objective = "time";
  double distance = 20, distance_share = 0.15, alpha = 0.8;

  static auto spec() {
    using O = PlanScorerOptions;
    return options(
        opt(&O::objective, "objective", "what the best plan has least of")
            .choices("time", "cpu", "energy"),
        opt(&O::distance, "distance", "images/s that members of a flotilla may differ by")
            .range(0, 1e9),
        opt(&O::distance_share, "distance_share",
            "the same as a part of the fastest rate; the larger one counts")
            .range(0, 1),
        opt(&O::alpha, "alpha", "part of the accelerators below which a flotilla stops")
            .range(0, 1));
  }
  PlanRules rules(const Run& run) const;
};

// Candidates are designs with numbers of preprocessors and sharing groups, and, where the graph
// tells the models, schedules of all models on the accelerators.
class PlanScorer final : public Scorer {
 public:
  explicit PlanScorer(PlanScorerOptions options) : options_(std::move(options)) {}
  TableStream enumerate(const Dataset& in, const Run& run) override;
  TableStream score(const Dataset& in, const Run& run) override;

 private:
  PlanScorerOptions options_;
};

Component plan_component();

}  // namespace omen::ensemble
