// SPDX-License-Identifier: Apache-2.0
// Predictor `interference.solo`: what a job alone costs at a batch size.
#pragma once

#include <omen/plugin.hpp>

#include "solo/solo_model.hpp"

namespace omen::interference {

class SoloPredictor final : public Predictor {
 public:
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  struct Fitted {
    SoloColumns columns;
    SoloEncoder encoder;
    std::vector<SoloModel> models;
    std::vector<std::string> units;
  };
  std::unique_ptr<Fitted> fitted_;
};

Component solo_component();

}  // namespace omen::interference
