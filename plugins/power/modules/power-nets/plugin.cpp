// SPDX-License-Identifier: Apache-2.0
// The learned predictors.
#include <omen/plugin.hpp>

#include "learned/learned_predictor.hpp"

OMEN_PLUGIN("power-nets", "0.1.0", "Apache-2.0", omen::power::seq_component(),
            omen::power::flat_component())
