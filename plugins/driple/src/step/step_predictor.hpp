// SPDX-License-Identifier: Apache-2.0
// Predictor `driple.step`: time and memory of one step of a job on any GPU.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "step/step_model.hpp"
#include "step/use_model.hpp"

namespace omen::driple {

struct StepPredictorOptions {
  int folds = 10;
  std::string operators;

  static auto spec() {
    using O = StepPredictorOptions;
    return options(
        opt(&O::folds, "folds", "folds that the intervals are measured on; groups stay together")
            .range(2, 50),
        opt(&O::operators, "operators",
            "efficiencies of operators that training starts from; empty: those of the plugin"));
  }
};

class StepPredictor final : public Predictor {
 public:
  explicit StepPredictor(StepPredictorOptions options) : options_(std::move(options)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  struct Fitted {
    OperatorModel operators;
    StepModel jobs;
    UseModel use;  // not fitted where no share was measured
  };
  StepPredictorOptions options_;
  std::unique_ptr<Fitted> model_;
};

Component step_component();

}  // namespace omen::driple
