// SPDX-License-Identifier: Apache-2.0
// How the accelerators of a collection lie: principal components and clusters of their parameters.
#pragma once

#include <cstdint>
#include <omen/learn/kmeans.hpp>
#include <omen/learn/pca.hpp>
#include <omen/learn/scaler.hpp>

#include "statistics/population.hpp"

namespace omen::power {

struct HardwareStructure {
  std::vector<std::string> names;
  std::vector<bool> logarithmic;  // parameters that are counted in doublings
  std::vector<std::size_t> rows;  // of the population that were looked at
  learn::Pca pca;
  learn::Matrix places;  // of the rows along the components
  learn::KMeans clusters;
  learn::Matrix centres;  // in the units of the parameters, one row a cluster
};

// On at most 20,000 rows, evenly taken. Nothing to see (no names) below two parameters that vary or
// fewer rows than clusters.
HardwareStructure hardware_structure(const Population& population, int clusters,
                                     std::uint64_t seed);

}  // namespace omen::power
