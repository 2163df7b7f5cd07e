// SPDX-License-Identifier: Apache-2.0
// The components that learn from meters: language models, power limits and boards.
#include <omen/plugin.hpp>

#include "energy/caps_predictor.hpp"
#include "energy/energy_scorer.hpp"
#include "gemmini/cycle_predictor.hpp"
#include "llm/config_frontend.hpp"
#include "llm/estimate_command.hpp"
#include "llm/finetune_command.hpp"
#include "llm/llm_predictor.hpp"
#include "measured/board_predictor.hpp"
#include "meter/measure_command.hpp"

OMEN_PLUGIN("power-measured", "0.1.0", "Apache-2.0", omen::power::config_component(),
            omen::power::llm_component(), omen::power::energy_component(),
            omen::power::estimate_component(), omen::power::finetune_component(),
            omen::power::boards_component(), omen::power::gemmini_component(),
            omen::power::measure_component(), omen::power::caps_component())
