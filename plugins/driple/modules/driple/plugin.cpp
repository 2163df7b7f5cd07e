// SPDX-License-Identifier: Apache-2.0
// What answers "how long, how much memory, which GPU"; opens without LibTorch.
#include <omen/plugin.hpp>

#include "allocate/allocate_scorer.hpp"
#include "step/step_predictor.hpp"

OMEN_PLUGIN("driple", "0.1.0", "Apache-2.0", omen::driple::step_component(),
            omen::driple::allocate_component())
