// SPDX-License-Identifier: Apache-2.0
// loadbalance.cost: times on CPU and GPU, and the split that follows from them.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "cost/cost_model.hpp"

namespace omen::loadbalance::cost {

struct CostPredictorOptions {
  std::string members = "both";
  std::string calibration = "auto";
  bool with_counts = true, with_input_size = true;
  int rounds = 200, leaves = 31, folds = 5;
  double eta = 0.08, noise = 0.03, least_gain = 1.05;

  static auto spec() {
    using O = CostPredictorOptions;
    return options(
        opt(&O::members, "members",
            "trees: boosted trees only; both: the mean of trees and a Gaussian process, which "
            "keeps "
            "the counts of its training kernels in the model")
            .choices("both", "trees"),
        opt(&O::with_counts, "with_counts", "learn from Grewe's counts where the data have them"),
        opt(&O::with_input_size, "with_input_size", "learn from the bytes of the input"),
        opt(&O::calibration, "calibration",
            "correction for this machine: auto (the file of omen loadbalance calibrate, for "
            "kernels "
            "that name no GPU), none, or a file"),
        opt(&O::least_gain, "least_gain", "speed-up below which one device does all").range(1, 2),
        opt(&O::rounds, "rounds", "trees of each answer").range(1, 10000),
        opt(&O::leaves, "leaves", "leaves of a tree").range(2, 1024),
        opt(&O::eta, "eta", "learning rate of the trees").range(0.001, 1),
        opt(&O::noise, "noise", "variance of a measurement for the Gaussian process")
            .range(1e-6, 10),
        opt(&O::folds, "folds",
            "inner folds that intervals are measured on; programs stay together")
            .range(2, 50));
  }
};

class CostPredictor final : public Predictor {
 public:
  explicit CostPredictor(CostPredictorOptions options) : options_(std::move(options)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  const CostModel& model() const;
  std::optional<Calibration> calibration() const;

  CostPredictorOptions options_;
  std::unique_ptr<CostModel> model_;
};

}  // namespace omen::loadbalance::cost
