// SPDX-License-Identifier: Apache-2.0
// Ranks of absolute residuals.
#include "omen/learn/intervals.hpp"

#include <algorithm>
#include <cmath>

namespace omen::learn {
namespace {

constexpr std::size_t kMaxKept = 2001;

std::vector<double> thinned(const std::vector<double>& sorted) {
  if (sorted.size() <= kMaxKept) return sorted;
  std::vector<double> kept;
  for (std::size_t i = 0; i < kMaxKept; ++i) {
    kept.push_back(sorted[i * (sorted.size() - 1) / (kMaxKept - 1)]);
  }
  return kept;
}

}  // namespace

ResidualQuantiles::ResidualQuantiles(const Vector& held_out, const Vector& y) {
  std::vector<double> residuals;
  for (Index row = 0; row < y.size(); ++row) {
    const double residual = std::abs(y[row] - held_out[row]);
    if (std::isfinite(residual)) residuals.push_back(residual);
  }
  std::sort(residuals.begin(), residuals.end());
  sorted_ = thinned(residuals);
}

double ResidualQuantiles::half_width(double level) const {
  if (sorted_.empty()) return kUnknown;
  const double rank = std::ceil((static_cast<double>(sorted_.size()) + 1) * level);
  const double last = static_cast<double>(sorted_.size());
  return sorted_[static_cast<std::size_t>(std::clamp(rank, 1.0, last)) - 1];
}

}  // namespace omen::learn
