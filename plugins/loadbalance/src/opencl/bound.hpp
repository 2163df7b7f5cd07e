// SPDX-License-Identifier: Apache-2.0
// How far a kernel reaches into a buffer, as an expression of its range and its whole numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "opencl/launch.hpp"

namespace omen::loadbalance {

enum class BoundKind : std::uint8_t {
  kConstant,  // `value`
  kArgument,  // the whole number that is argument `value`
  kGlobalId,  // from here on of dimension `value`
  kLocalId,
  kGroupId,
  kGlobalSize,
  kLocalSize,
  kGroups,
  kSum,  // from here on of the parts
  kProduct,
  kQuotient,  // of two
  kSmallest,
  kLargest,
  kUpTo,  // from nothing to the part: how often a loop has gone round
};

struct Bound {
  BoundKind kind = BoundKind::kConstant;
  std::int64_t value = 0;
  std::vector<Bound> parts = {};
};

// The value of a whole number by its index; nothing for one that is not known.
using WholeNumbers = std::function<std::optional<std::int64_t>(std::size_t argument)>;

// The largest value that the expression takes over all work-items of the range.
std::optional<double> largest_value(const Bound& bound, const LaunchRange& range,
                                    const WholeNumbers& numbers);

}  // namespace omen::loadbalance
