// SPDX-License-Identifier: Apache-2.0
// Arithmetic of intervals.
#include "opencl/bound.hpp"

#include <algorithm>

namespace omen::loadbalance {
namespace {

struct Span {
  double low = 0, high = 0;
};

Span product_of(const Span& a, const Span& b) {
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

Span quotient_of(const Span& a, const Span& b) {
  const double divisor = std::max(b.low, 1.0);
  return {std::min(a.low, a.low / divisor), std::max(a.high / divisor, 0.0)};
}

class Evaluator {
 public:
  Evaluator(const LaunchRange& range, const WholeNumbers& numbers)
      : range_(range), numbers_(numbers) {}

  std::optional<Span> of(const Bound& bound) const {
    if (bound.kind == BoundKind::kConstant) return exactly(static_cast<double>(bound.value));
    if (bound.kind == BoundKind::kArgument) {
      const auto number = numbers_(static_cast<std::size_t>(bound.value));
      return number ? std::optional(exactly(static_cast<double>(*number))) : std::nullopt;
    }
    return bound.parts.empty() ? of_range(bound) : of_parts(bound);
  }

 private:
  static Span exactly(double value) { return {value, value}; }

  std::optional<Span> of_range(const Bound& bound) const {
    if (bound.value < 0 || bound.value > 2) return std::nullopt;
    const auto d = static_cast<unsigned>(bound.value);
    const auto global = static_cast<double>(range_.global[d]),
               local = static_cast<double>(range_.local[d]),
               groups = static_cast<double>(range_.groups(d));
    switch (bound.kind) {
      case BoundKind::kGlobalId:
        return Span{0, global - 1};
      case BoundKind::kLocalId:
        return Span{0, local - 1};
      case BoundKind::kGroupId:
        return Span{0, groups - 1};
      case BoundKind::kGlobalSize:
        return exactly(global);
      case BoundKind::kLocalSize:
        return exactly(local);
      case BoundKind::kGroups:
        return exactly(groups);
      default:
        return std::nullopt;
    }
  }

  std::optional<Span> of_parts(const Bound& bound) const {
    std::optional<Span> all;
    for (const Bound& part : bound.parts) {
      const std::optional<Span> one = of(part);
      if (!one) return std::nullopt;
      all = all ? joined(bound.kind, *all, *one) : *one;
    }
    if (bound.kind == BoundKind::kUpTo) return Span{0, std::max(all->high, 0.0)};
    return all;
  }

  static Span joined(BoundKind kind, const Span& a, const Span& b) {
    switch (kind) {
      case BoundKind::kProduct:
        return product_of(a, b);
      case BoundKind::kQuotient:
        return quotient_of(a, b);
      case BoundKind::kSmallest:
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
      case BoundKind::kLargest:
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
      default:
        return {a.low + b.low, a.high + b.high};
    }
  }

  const LaunchRange& range_;
  const WholeNumbers& numbers_;
};

}  // namespace

std::optional<double> largest_value(const Bound& bound, const LaunchRange& range,
                                    const WholeNumbers& numbers) {
  const std::optional<Span> span = Evaluator(range, numbers).of(bound);
  return span ? std::optional(span->high) : std::nullopt;
}

}  // namespace omen::loadbalance
