// SPDX-License-Identifier: Apache-2.0
// Gradient-boosted trees from XGBoost.
#pragma once

#include <omen/boosting/booster.hpp>

#include "omen/learn/learner.hpp"

namespace omen::learn {

struct GbtOptions {
  int rounds = 0;  ///< 0: chosen by cross-validation, at most max_rounds
  int depth = 0;   ///< 0: chosen by cross-validation
  double eta = 0;  ///< learning rate; 0: chosen by cross-validation
  int max_rounds = 500;
  double subsample = 1;
  double min_child_weight = 1;
  double l2 = 1;
};

/// Each booster runs on one thread and folds run side by side, so that a seed gives the same trees
/// whatever the thread budget.
class GbtLearner final : public Learner {
 public:
  explicit GbtLearner(GbtOptions options) : options_(options) {}

  Scaling scaling() const override { return Scaling::kRaw; }
  std::vector<HeadReport> fit(const Matrix& x, const std::vector<Head>& heads, const Folds& folds,
                              const Context& context) override;
  std::vector<Matrix> predict(const Matrix& x, const Context& context) const override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in, const Shape& shape) override;

 private:
  struct FittedHead {
    Booster booster;
    int classes;
    double mean, scale;  ///< the trees see (y - mean) / scale
  };

  GbtOptions options_;
  std::vector<FittedHead> heads_;
};

}  // namespace omen::learn
