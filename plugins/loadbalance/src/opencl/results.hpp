// SPDX-License-Identifier: Apache-2.0
// Joins what two devices wrote, and compares it with what one device writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opencl/arguments.hpp"

namespace omen::loadbalance {

using Bytes = std::vector<unsigned char>;

// What both devices may change.
enum class Overlap : std::uint8_t {
  kAlike,  // places that they change to the same value: whoever raises a flag
  kNone,   // nothing: an item adds to what it finds there
};

// Every byte that a device changed from the original is taken from it.
struct Merged {
  Bytes bytes;
  std::uint64_t conflicts = 0;       // scalars that both changed and that the overlap forbids
  std::uint64_t first_conflict = 0;  // index of the first of them
};
Merged merge_results(const Bytes& original, const Bytes& first, const Bytes& second,
                     std::size_t scalar_bytes, Overlap overlap);

struct Difference {
  std::uint64_t scalars = 0, unequal = 0;  // in bits
  double largest_absolute = 0;
  double largest_relative = 0;  // |a - b| / max(|a|, |b|), of floats
  std::uint64_t at = 0;         // index of the largest
  double scale = 0;             // largest magnitude that was expected

  // Of floats within `tolerance` of the largest magnitude, of all else in every bit.
  bool equal_within(double tolerance, ScalarKind kind) const {
    return unequal == 0 || (kind == ScalarKind::kFloat && largest_absolute <= tolerance * scale);
  }
};
// Two NaN are equal. Whole numbers count their absolute difference; opaque data compare by bytes.
Difference compare_results(const Bytes& expected, const Bytes& actual, ScalarKind kind,
                           std::size_t scalar_bytes);

}  // namespace omen::loadbalance
