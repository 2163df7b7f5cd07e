// SPDX-License-Identifier: Apache-2.0
// Scorer `driple.allocate`: which GPU a job should get, and how many.
#pragma once

#include <omen/plugin.hpp>

namespace omen::driple {

struct AllocateOptions {
  std::string gpus = "v100,a100,h100";
  std::string objective = "time", price;
  double money_weight = 0.5, deadline_h = 0, budget = 0;
  bool legacy = false;

  static std::vector<Option<AllocateOptions>> spec();
};

// Candidates are GPUs with splits. Whether a job fits is worked out here from its graph, so every
// predictor is judged behind the same gate.
class AllocateScorer final : public Scorer {
 public:
  explicit AllocateScorer(AllocateOptions options) : options_(std::move(options)) {}
  TableStream enumerate(const Dataset& in, const Run& run) override;
  TableStream score(const Dataset& in, const Run& run) override;

 private:
  AllocateOptions options_;
};

Component allocate_component();

}  // namespace omen::driple
