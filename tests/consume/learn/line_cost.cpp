// SPDX-License-Identifier: Apache-2.0
// A small outside plugin on Omen::learn: features, folds and intervals come from the library.
#include <memory>
#include <omen/learn/ridge.hpp>
#include <omen/learn/tabular_predictor.hpp>
#include <omen/plugin.hpp>

namespace {

struct LineOptions {
  double alpha = 0;

  static auto spec() {
    return omen::options(
        omen::opt(&LineOptions::alpha, "alpha", "penalty; 0: by cross-validation").range(0, 1e9));
  }
};

class LineCost final : public omen::learn::TabularPredictor {
 public:
  explicit LineCost(const LineOptions& options)
      : TabularPredictor(
            "consume.line",
            [alpha = options.alpha] { return std::make_unique<omen::learn::RidgeLearner>(alpha); },
            {}) {}
};

}  // namespace

OMEN_PLUGIN(
    "consume", "0.1.0", "Apache-2.0",
    omen::predictor<LineCost, LineOptions>("consume.line", "a straight line in every feature")
        .reads("workloads.*", "nodes:optional", "edges:optional")
        .writes("*")
        .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY))
