// SPDX-License-Identifier: Apache-2.0
// Traffic of one update for each parameter.
#ifndef OMEN_OPGRAPH_OPTIMIZER_COSTS_HPP
#define OMEN_OPGRAPH_OPTIMIZER_COSTS_HPP

#include "omen/opgraph/training.hpp"

namespace omen::opgraph {

struct UpdateTraffic {
  double read = 0, written = 0;  // bytes for each parameter
};
UpdateTraffic update_traffic(const TrainingOptions& options);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_OPTIMIZER_COSTS_HPP
