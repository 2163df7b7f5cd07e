// SPDX-License-Identifier: Apache-2.0
// The predictors and their commands; each part of the track names its own.
#include <omen/plugin.hpp>

#include "network/components.hpp"

OMEN_PLUGIN("loadbalance", "0.1.0", "Apache-2.0", omen::loadbalance::network_component(),
            omen::loadbalance::convert_component())
