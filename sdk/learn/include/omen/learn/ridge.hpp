// SPDX-License-Identifier: Apache-2.0
// Linear least squares with an L2 penalty; its counterpart for classes is softmax regression.
#pragma once

#include "omen/learn/learner.hpp"

namespace omen::learn {

/// Minimises |y - X w - b|^2 + alpha |w|^2 for each alpha; the intercept is not penalised.
/// One column of coefficients per alpha, the intercept in the last row.
Matrix ridge_path(const Matrix& x, const Vector& y, const std::vector<double>& alphas,
                  const Context& context);

/// Penalties tried when none is given: half decades from 1e-3 to 1e5, largest first.
std::vector<double> ridge_alphas();

class RidgeLearner final : public Learner {
 public:
  /// `alpha` 0: chosen by cross-validation for every target apart.
  explicit RidgeLearner(double alpha) : alpha_(alpha) {}

  Scaling scaling() const override { return Scaling::kStandardised; }
  std::vector<HeadReport> fit(const Matrix& x, const std::vector<Head>& heads, const Folds& folds,
                              const Context& context) override;
  std::vector<Matrix> predict(const Matrix& x, const Context& context) const override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in, const Shape& shape) override;

 private:
  double alpha_;
  std::vector<Matrix> coefficients_;  ///< per head (features + 1) x outputs, intercept last
};

}  // namespace omen::learn
