// SPDX-License-Identifier: Apache-2.0
// The predictors and their commands; each part of the track names its own.
#include <omen/plugin.hpp>

#include "ablation_command.hpp"
#include "network/components.hpp"
#include "network/dataflow_predictor.hpp"
#if OMEN_LOADBALANCE_COST
#include "cost/components.hpp"
#define OMEN_LOADBALANCE_COST_PARTS                                           \
  , omen::loadbalance::cost_component(), omen::loadbalance::tree_component(), \
      omen::loadbalance::linear_component()
#else
#define OMEN_LOADBALANCE_COST_PARTS
#endif

OMEN_PLUGIN("loadbalance", "0.1.0", "Apache-2.0", omen::loadbalance::network_component(),
            omen::loadbalance::dataflow_component(), omen::loadbalance::convert_component(),
            omen::loadbalance::dataflow_test_component(),
            omen::loadbalance::ablation_component() OMEN_LOADBALANCE_COST_PARTS)
