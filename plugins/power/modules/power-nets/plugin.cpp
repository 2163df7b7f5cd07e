// SPDX-License-Identifier: Apache-2.0
// The learned predictors.
#include <omen/plugin.hpp>

#include "learned/learned_predictor.hpp"
#include "learned/trials_command.hpp"

#if OMEN_POWER_SUMS
#include "sums/agg_predictor.hpp"
OMEN_PLUGIN("power-nets", "0.1.0", "Apache-2.0", omen::power::seq_component(),
            omen::power::flat_component(), omen::power::trials_component(),
            omen::power::agg_component())
#else
OMEN_PLUGIN("power-nets", "0.1.0", "Apache-2.0", omen::power::seq_component(),
            omen::power::flat_component(), omen::power::trials_component())
#endif
