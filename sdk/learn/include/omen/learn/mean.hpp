// SPDX-License-Identifier: Apache-2.0
// Predicts the mean of the training rows, or their class frequencies, whatever the features.
#pragma once

#include "omen/learn/learner.hpp"

namespace omen::learn {

class MeanLearner final : public Learner {
 public:
  Scaling scaling() const override { return Scaling::kRaw; }
  std::vector<HeadReport> fit(const Matrix& x, const std::vector<Head>& heads, const Folds& folds,
                              const Context& context) override;
  std::vector<Matrix> predict(const Matrix& x, const Context& context) const override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in, const Shape& shape) override;

 private:
  std::vector<Matrix> answers_;  ///< one row each
};

}  // namespace omen::learn
