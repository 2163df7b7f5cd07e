// SPDX-License-Identifier: Apache-2.0
// How errors fall with the amount of data: a + b n^-c.
#pragma once

#include <vector>

namespace omen::power {

struct ErrorLaw {
  double floor = 0, scale = 0, power = 1;  // a, b, c
  double at(double amount) const;
};

// Least squares of relative errors; floor and scale are not negative. Needs two different amounts.
ErrorLaw fit_error_law(const std::vector<double>& amount, const std::vector<double>& error);

}  // namespace omen::power
