// SPDX-License-Identifier: Apache-2.0
// A grid over the exponent, and two weights in closed form for each.
#include "learned/error_law.hpp"

#include <cmath>
#include <limits>
#include <omen/learn/errors.hpp>
#include <omen/learn/nnls.hpp>
#include <set>

namespace omen::power {
namespace {

constexpr double kLeastExponent = 0.05, kMostExponent = 2, kExponentStep = 0.05;

}  // namespace

double ErrorLaw::at(double amount) const {
  return floor + scale * std::pow(amount, -power);
}

ErrorLaw fit_error_law(const std::vector<double>& amount, const std::vector<double>& error) {
  if (std::set<double>(amount.begin(), amount.end()).size() < 2)
    learn::throw_bad_data("one amount of data says nothing of more",
                          "Give a dataset with more networks.");
  const auto rows = static_cast<learn::Index>(amount.size());
  ErrorLaw best;
  double least = std::numeric_limits<double>::infinity();
  for (double power = kLeastExponent; power <= kMostExponent; power += kExponentStep) {
    learn::Matrix x(rows, 2);
    const learn::Vector y = learn::Vector::Ones(rows);
    for (learn::Index i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      x(i, 0) = 1 / error[at];
      x(i, 1) = std::pow(amount[at], -power) / error[at];
    }
    const learn::NonNegative fitted = learn::non_negative_least_squares(x, y);
    if (fitted.residual < least) {
      least = fitted.residual;
      best = {fitted.weights[0], fitted.weights[1], power};
    }
  }
  return best;
}

}  // namespace omen::power
