// SPDX-License-Identifier: Apache-2.0
// Three constants from the tables.
#include "calibrated_roofline.hpp"

#include <algorithm>

namespace omen::driple::checks {
namespace {

constexpr double kLongEnough = 1e-4;  // s

double median_of(std::vector<double> values, double fallback) {
  if (values.empty()) return fallback;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

CalibratedRoofline::CalibratedRoofline(const std::vector<OperatorRow>& rows,
                                       const std::function<bool(const OperatorRow&)>& chosen) {
  std::vector<double> compute, memory, shortest;
  for (const OperatorRow& row : rows) {
    if (!chosen(row)) continue;
    const Bound bound = bound_of(row.measured.op, row.measured.device);
    if (bound.seconds() < kLongEnough / 100) shortest.push_back(row.measured.seconds);
    if (bound.seconds() < kLongEnough) continue;
    (bound.compute > bound.memory ? compute : memory)
        .push_back(bound.seconds() / row.measured.seconds);
  }
  compute_use_ = median_of(compute, 1);
  memory_use_ = median_of(memory, 1);
  floor_ = median_of(shortest, 0);
}

double CalibratedRoofline::seconds(const opgraph::Job& job, const Device& device) const {
  double sum = 0;
  for (const opgraph::Op& op : job.graph.ops) {
    if (!family_of(op)) continue;
    const Bound bound = bound_of(op, device);
    sum += std::max({bound.compute / compute_use_, bound.memory / memory_use_, floor_});
  }
  return sum;
}

}  // namespace omen::driple::checks
