// SPDX-License-Identifier: Apache-2.0
// Predictor `ensemble.rate`: what an ensemble that shares its preprocessing reaches and costs.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "rate/calibration.hpp"

namespace omen::ensemble {

struct RateOptions {
  double sigma = -1, overlap = 0;
  int folds = 5;

  static auto spec() {
    using O = RateOptions;
    return options(
        opt(&O::sigma, "sigma",
            "how much each further core loses, where it is known from elsewhere; -1: fitted")
            .range(-1, 10),
        opt(&O::overlap, "overlap",
            "part of the shorter of preprocessing and exchange that hides behind the longer")
            .range(0, 1),
        opt(&O::folds, "folds", "folds that the intervals are measured on; groups stay together")
            .range(2, 50));
  }
};

class RatePredictor final : public Predictor {
 public:
  explicit RatePredictor(RateOptions options) : options_(std::move(options)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  RateOptions options_;
  std::unique_ptr<Calibrated> model_;
};

Component rate_component();

}  // namespace omen::ensemble
