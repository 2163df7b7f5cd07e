// SPDX-License-Identifier: Apache-2.0
// Confidence intervals from bootstrap draws.
#include "stats/intervals.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "omen/learn/quantile.hpp"

namespace omen::host::stats {

Interval percentile_interval(std::vector<double> draws, double level) {
  const double tail = (1 - level) / 2;
  const double lo = learn::quantile(draws, tail);
  return {lo, learn::quantile(std::move(draws), 1 - tail)};
}

Interval t_interval(std::span<const double> draws, double estimate, std::size_t groups,
                    double level) {
  const double middle = learn::mean(draws);
  double squares = 0;
  for (const double draw : draws) squares += (draw - middle) * (draw - middle);
  const double variance = squares / static_cast<double>(draws.size() - 1);
  // Draws vary about their sample's own middle, which makes their variance too small by this much.
  const auto n = static_cast<double>(groups);
  const double error = std::sqrt(variance * n / (n - 1));
  const boost::math::students_t student(n - 1);
  const double width = error * boost::math::quantile(student, (1 + level) / 2);
  return {estimate - width, estimate + width};
}

}  // namespace omen::host::stats
