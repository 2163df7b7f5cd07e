// SPDX-License-Identifier: Apache-2.0
// Predictor `power.agg`: boosted trees over sums of the network and the accelerator's parameters.
#pragma once

#include <omen/boosting/gbt.hpp>
#include <omen/learn/tabular_predictor.hpp>
#include <omen/plugin.hpp>

namespace omen::power {

struct AggOptions {
  int rounds = 500, depth = 8, folds = 3;
  double eta = 0.08, subsample = 1;

  static auto spec() {
    using O = AggOptions;
    return options(
        opt(&O::rounds, "rounds", "trees; 0: chosen by cross-validation").range(0, 100000),
        opt(&O::depth, "depth", "depth of a tree; 0: chosen by cross-validation").range(0, 20),
        opt(&O::eta, "eta", "learning rate; 0: chosen by cross-validation").range(0, 1),
        opt(&O::subsample, "subsample", "share of the rows that a tree sees").range(0.01, 1),
        opt(&O::folds, "folds", "inner folds, of whole networks, that intervals are measured on")
            .range(2, 50));
  }
};

class AggPredictor final : public Predictor {
 public:
  explicit AggPredictor(const AggOptions& options);
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override { trees_.save(out); }
  void load(const ArtifactReader& in) override { trees_.load(in); }

 private:
  learn::TabularPredictor trees_;
};

Component agg_component();

}  // namespace omen::power
