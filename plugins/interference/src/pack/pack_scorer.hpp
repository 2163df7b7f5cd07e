// SPDX-License-Identifier: Apache-2.0
// Scorer `interference.pack`: beside which other job of a queue each job should run, if any.
#pragma once

#include <omen/plugin.hpp>

#include "pack/pack_queue.hpp"

namespace omen::interference {

struct PackOptions {
  std::string policy = "balanced", gpus, modes = "timeslice";
  bool match = false;
  std::string explain;
  double cap = 0.1, hard_cap = 1, least_gain = 1.05, weight = 0.5, context_mib = 400;

  static std::vector<Option<PackOptions>> spec();
  PackRules rules() const;
};

class PackScorer final : public Scorer {
 public:
  explicit PackScorer(PackOptions options) : options_(std::move(options)) {}
  TableStream enumerate(const Dataset& in, const Run& run) override;
  TableStream score(const Dataset& in, const Run& run) override;

 private:
  PackOptions options_;
};

Component pack_component();

}  // namespace omen::interference
