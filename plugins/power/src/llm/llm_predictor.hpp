// SPDX-License-Identifier: Apache-2.0
// Predictor `power.llm`: joules, watts and seconds of a language model before it is served.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "llm/serving_rows.hpp"

namespace omen::power {

struct LlmOptions {
  int folds = 5;
  bool core = false;

  static auto spec() {
    using O = LlmOptions;
    return options(
        opt(&O::folds, "folds", "folds that intervals are measured on; groups stay together")
            .range(2, 50),
        opt(&O::core, "core", "the closed form alone: one set of constants for all software"));
  }
};

class LlmPredictor final : public Predictor {
 public:
  explicit LlmPredictor(LlmOptions options) : options_(options) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  LlmOptions options_;
  std::unique_ptr<LlmModel> model_;
};

// The batch at which requests that come at this rate keep each other busy; nothing where the GPUs
// do not keep up.
std::optional<Serving> at_rate(const LlmModel& model, Serving serving, double requests_per_s);

Component llm_component();

}  // namespace omen::power
