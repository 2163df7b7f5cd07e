// SPDX-License-Identifier: Apache-2.0
// Scorer `power.energy`: the power limit or placement with the fewest joules that is still allowed.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct EnergyOptions {
  std::string objective = "energy";
  double most_w = 0, most_s = 0, node_w = 0, gco2_per_kwh = 0;

  static auto spec() {
    using O = EnergyOptions;
    return options(
        opt(&O::objective, "objective", "what the best choice has least of")
            .choices("energy", "edp", "time"),
        opt(&O::most_w, "most_w", "watts that one job may draw; 0: any").range(0, 1e9),
        opt(&O::most_s, "most_s", "seconds that one job may take; 0: any").range(0, 1e12),
        opt(&O::node_w, "node_w", "watts that all jobs may draw together; 0: any").range(0, 1e9),
        opt(&O::gco2_per_kwh, "gco2_per_kwh", "grams of CO2 for a kWh; 0: none are said")
            .range(0, 1e5));
  }
};

class EnergyScorer final : public Scorer {
 public:
  explicit EnergyScorer(EnergyOptions options) : options_(std::move(options)) {}
  TableStream enumerate(const Dataset& in, const Run& run) override;
  TableStream score(const Dataset& in, const Run& run) override;

 private:
  EnergyOptions options_;
};

Component energy_component();

}  // namespace omen::power
