// SPDX-License-Identifier: Apache-2.0
// Predictor `interference.pair`: how fast jobs are that share a GPU.
#pragma once

#include <memory>
#include <omen/plugin.hpp>

#include "pair/pair_forecast.hpp"

namespace omen::interference {

struct PairOptions {
  std::string method = "process";
  int rank = 2, clusters = 3;
  double ridge = 0.3;

  static auto spec() {
    using O = PairOptions;
    return options(
        opt(&O::method, "method",
            "process: Gaussian process over pairs; trees: boosted trees; delay_law: three numbers "
            "over "
            "how busy both jobs are; the others are baselines")
            .choices("process", "trees", "delay_law", "low_rank", "additive", "cluster_table",
                     "utilsum", "const"),
        opt(&O::rank, "rank", "products of factors of low_rank").range(1, 10),
        opt(&O::clusters, "clusters", "clusters of cluster_table").range(1, 50),
        opt(&O::ridge, "ridge", "how strongly additive and low_rank shrink").range(0, 100));
  }
};

class PairPredictor final : public Predictor {
 public:
  explicit PairPredictor(PairOptions options) : options_(std::move(options)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void observe(const Dataset& measured, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  PairOptions options_;
  std::unique_ptr<PairForecast> forecast_;
};

Component pair_component();

}  // namespace omen::interference
