// SPDX-License-Identifier: Apache-2.0
// Predictor `power.caps`: jobs under power limits, from their power and time without one.
#pragma once

#include <omen/plugin.hpp>

#include "energy/cap_response.hpp"

namespace omen::power {

class CapsPredictor final : public Predictor {
 public:
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  CapResponse model_;
  std::vector<double> misses_;  // of energy in rows of groups held out, ascending
};

Component caps_component();

}  // namespace omen::power
