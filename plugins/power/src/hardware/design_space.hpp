// SPDX-License-Identifier: Apache-2.0
// The accelerators that may be built: each parameter with its kind and its legal values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/hardware.hpp"

namespace omen::power {

enum class ParameterKind : std::uint8_t { continuous, integer, pow2, choice };

// Values are legal ones in ascending order; a continuous parameter has a grid to round to, and a
// choice the numbers of its words.
struct Parameter {
  std::string name, unit;
  ParameterKind kind = ParameterKind::integer;
  std::vector<double> values;
  bool logarithmic = true;

  double get(const Hardware& hardware) const;
  void set(Hardware& hardware, double value) const;
  // Place among the values that lies nearest, on the axis of the parameter.
  std::size_t nearest(double value) const;
};

// The twelve free parameters of the corpus and of recovery.
const std::vector<Parameter>& design_space();

// A design as the place of each parameter among its values.
using Design = std::vector<std::size_t>;
Hardware hardware_of(const Design& design, const Hardware& fixed);
Design nearest_design(const Hardware& hardware);

// Point `index` of a low-discrepancy sequence over the space (additive recurrence with the roots of
// x^(d+1) = x + 1), shifted by the seed.
Design spread_design(std::uint64_t index, std::uint64_t seed);

}  // namespace omen::power
