// SPDX-License-Identifier: Apache-2.0
// The rival that every model of operators has to beat: peak rates times constants, and a floor.
#pragma once

#include <functional>
#include <omen/opgraph/op_graph.hpp>
#include <vector>

#include "operator_tables.hpp"

namespace omen::driple::checks {

class CalibratedRoofline {
 public:
  // Medians over the chosen rows that last long enough for the rates to matter.
  CalibratedRoofline(const std::vector<OperatorRow>& rows,
                     const std::function<bool(const OperatorRow&)>& chosen);
  double seconds(const opgraph::Job& job, const Device& device) const;

 private:
  double compute_use_ = 1, memory_use_ = 1, floor_ = 0;
};

}  // namespace omen::driple::checks
