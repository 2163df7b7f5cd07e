// SPDX-License-Identifier: Apache-2.0
// Predictor `power.gemmini`: cycles of convolutions on a Gemmini array, by their mapping.
#pragma once

#include <omen/plugin.hpp>

#include "gemmini/cycle_model.hpp"

namespace omen::power {

class CyclePredictor final : public Predictor {
 public:
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  CycleModel model_;
  std::vector<double> misses_;
};

Component gemmini_component();

}  // namespace omen::power
