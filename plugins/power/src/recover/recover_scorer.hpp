// SPDX-License-Identifier: Apache-2.0
// Scorer `power.recover`: ranks accelerators by an objective under constraints, from predictions.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct RecoverScorerOptions {
  std::string goal = "power";
  double latency_ms = 0, area_mm2 = 0, power_w = 0, caution = 0;

  static std::vector<Option<RecoverScorerOptions>> spec();
};

class RecoverScorer final : public Scorer {
 public:
  explicit RecoverScorer(RecoverScorerOptions options) : options_(std::move(options)) {}
  TableStream score(const Dataset& in, const Run& run) override;

 private:
  RecoverScorerOptions options_;
};

Component recover_scorer_component();

}  // namespace omen::power
