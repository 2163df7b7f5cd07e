// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the ABI benchmark runs on both sides of the boundary.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace omen::bench {

constexpr int kFeatures = 8;
constexpr int kTargets = 3;
inline constexpr std::array<const char*, kFeatures> kFeatureNames = {"f0", "f1", "f2", "f3",
                                                                     "f4", "f5", "f6", "f7"};
inline constexpr std::array<const char*, kTargets> kTargetNames = {"time_ms", "energy_j",
                                                                   "memory_mb"};

// A small analytic model: three linear forms of the features.
inline void predict_rows(const std::array<const double*, kFeatures>& features, std::int64_t rows,
                         const std::array<double*, kTargets>& out) {
  for (int t = 0; t < kTargets; ++t) {
    double* target = out[static_cast<std::size_t>(t)];
    for (std::int64_t i = 0; i < rows; ++i) {
      double sum = 1.0;
      for (int f = 0; f < kFeatures; ++f)
        sum += (t + 1) * 0.125 * (f + 1) * features[static_cast<std::size_t>(f)][i];
      target[i] = sum;
    }
  }
}

}  // namespace omen::bench
