// SPDX-License-Identifier: Apache-2.0
// Parameters that span a wide range of positive values are compared by their logarithms.
#include "statistics/hardware_structure.hpp"

#include <algorithm>
#include <cmath>

namespace omen::power {
namespace {

constexpr std::size_t kMostRows = 20000;
constexpr double kWide = 4;  // largest over smallest value

}  // namespace

HardwareStructure hardware_structure(const Population& population, int clusters,
                                     std::uint64_t seed) {
  HardwareStructure made;
  const std::size_t all = population.rows();
  if (population.parameters.size() < 2 || all < static_cast<std::size_t>(clusters) || all < 3)
    return made;
  const std::size_t count = std::min(all, kMostRows);
  for (std::size_t i = 0; i < count; ++i) made.rows.push_back(i * all / count);
  learn::Matrix x(static_cast<learn::Index>(count),
                  static_cast<learn::Index>(population.parameters.size()));
  for (std::size_t p = 0; p < population.parameters.size(); ++p) {
    const Population::Parameter& parameter = population.parameters[p];
    const auto [low, high] = std::minmax_element(parameter.values.begin(), parameter.values.end());
    const bool logarithmic = *low > 0 && *high >= kWide * *low;
    made.names.push_back(parameter.name);
    made.logarithmic.push_back(logarithmic);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = parameter.values[made.rows[i]];
      x(static_cast<learn::Index>(i), static_cast<learn::Index>(p)) =
          logarithmic ? std::log2(value) : value;
    }
  }
  learn::Scaler scaler;
  scaler.fit(x);
  const learn::Matrix scaled = scaler.apply(x);
  made.pca.fit(scaled);
  made.places = made.pca.transform(scaled);
  learn::KMeansOptions options;
  options.clusters = clusters;
  options.restarts = 4;
  options.seed = seed;
  made.clusters = learn::kmeans(scaled, options);
  made.centres = made.clusters.centres;
  for (learn::Index c = 0; c < made.centres.rows(); ++c)
    for (learn::Index p = 0; p < made.centres.cols(); ++p) {
      const double value = made.centres(c, p) * scaler.deviations()[p] + scaler.means()[p];
      made.centres(c, p) = made.logarithmic[static_cast<std::size_t>(p)] ? std::exp2(value) : value;
    }
  return made;
}

}  // namespace omen::power
