// SPDX-License-Identifier: Apache-2.0
// Softmax regression with an L2 penalty, the counterpart of ridge for classes.
#pragma once

#include <vector>

#include "omen/learn/learner.hpp"

namespace omen::learn {

/// Turns every row of scores into probabilities.
Matrix softmax_rows(const Matrix& scores);

/// Minimises the summed negative log-likelihood + alpha/2 |W|^2 for each alpha, each started from
/// the previous answer. Per alpha (features + 1) x classes coefficients, the intercepts last.
std::vector<Matrix> softmax_path(const Matrix& x, const Vector& codes, int classes,
                                 const std::vector<double>& alphas, const Context& context);

}  // namespace omen::learn
