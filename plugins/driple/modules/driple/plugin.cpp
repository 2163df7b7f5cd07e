// SPDX-License-Identifier: Apache-2.0
// What answers "how long, how much memory, which GPU"; opens without LibTorch.
#include <omen/plugin.hpp>

#include "allocate/allocate_scorer.hpp"
#include "simulate/simulate_command.hpp"
#include "step/step_predictor.hpp"

#if OMEN_DRIPLE_TELEMETRY
#include "calibrate/calibrate_command.hpp"
#define OMEN_DRIPLE_TELEMETRY_PARTS , omen::driple::calibrate_component()
#else
#define OMEN_DRIPLE_TELEMETRY_PARTS
#endif

OMEN_PLUGIN("driple", "0.1.0", "Apache-2.0", omen::driple::step_component(),
            omen::driple::allocate_component(),
            omen::driple::simulate_component() OMEN_DRIPLE_TELEMETRY_PARTS)
