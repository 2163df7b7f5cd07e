// SPDX-License-Identifier: Apache-2.0
// Merging and comparing of buffers, scalar by scalar.
#include "opencl/results.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace omen::loadbalance {
namespace {

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

template <class T>
double load(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

double scalar_value(const unsigned char* at, ScalarKind kind, std::size_t width) {
  const bool is_signed = kind == ScalarKind::kSigned;
  if (kind == ScalarKind::kFloat) {
    if (width == 8) return load<double>(at);
    if (width == 4) return load<float>(at);
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return half_value(bits);
  }
  switch (width) {
    case 8:
      return is_signed ? load<std::int64_t>(at) : load<std::uint64_t>(at);
    case 4:
      return is_signed ? load<std::int32_t>(at) : load<std::uint32_t>(at);
    case 2:
      return is_signed ? load<std::int16_t>(at) : load<std::uint16_t>(at);
    default:
      return is_signed ? load<std::int8_t>(at) : load<std::uint8_t>(at);
  }
}

}  // namespace

Merged merge_results(const Bytes& original, const Bytes& first, const Bytes& second,
                     std::size_t scalar_bytes, Overlap overlap) {
  Merged merged;
  merged.bytes = first;
  const std::size_t width = std::max<std::size_t>(scalar_bytes, 1);
  for (std::size_t at = 0; at < original.size(); at += width) {
    const std::size_t count = std::min(width, original.size() - at);
    if (std::memcmp(&second[at], &original[at], count) == 0) continue;
    const bool both = std::memcmp(&first[at], &original[at], count) != 0;
    const bool forbidden =
        overlap == Overlap::kNone || std::memcmp(&first[at], &second[at], count) != 0;
    if (both && forbidden && merged.conflicts++ == 0) merged.first_conflict = at / width;
    std::memcpy(&merged.bytes[at], &second[at], count);
  }
  return merged;
}

Difference compare_results(const Bytes& expected, const Bytes& actual, ScalarKind kind,
                           std::size_t scalar_bytes) {
  Difference difference;
  const std::size_t width =
      kind == ScalarKind::kOpaque ? 1 : std::max<std::size_t>(scalar_bytes, 1);
  difference.scalars = expected.size() / width;
  for (std::uint64_t i = 0; i < difference.scalars; ++i) {
    const unsigned char *a = &expected[i * width], *b = &actual[i * width];
    const double x = scalar_value(a, kind, width);
    if (std::isfinite(x)) difference.scale = std::max(difference.scale, std::fabs(x));
    if (std::memcmp(a, b, width) == 0) continue;
    const double y = scalar_value(b, kind, width);
    if (std::isnan(x) && std::isnan(y)) continue;
    ++difference.unequal;
    const double absolute = std::isnan(x - y) ? INFINITY : std::fabs(x - y);
    const double scale = std::max(std::fabs(x), std::fabs(y));
    const double relative = std::isinf(absolute) ? INFINITY : scale > 0 ? absolute / scale : 0;
    if (absolute > difference.largest_absolute) {
      difference.largest_absolute = absolute;
      difference.at = i;
    }
    difference.largest_relative = std::max(difference.largest_relative, relative);
  }
  return difference;
}

}  // namespace omen::loadbalance
