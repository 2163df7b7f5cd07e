// SPDX-License-Identifier: Apache-2.0
// The components that open at once: no LibTorch.
#include <omen/plugin.hpp>

#include "corpus/corpus_frontend.hpp"
#include "nets/nets_frontend.hpp"
#include "recover/recover_command.hpp"
#include "recover/recover_scorer.hpp"
#include "sim/sim_predictor.hpp"
#include "sim/sim_profiler.hpp"
#include "sim/sweep_command.hpp"
#include "statistics/statistics_command.hpp"

OMEN_PLUGIN("power", "0.1.0", "Apache-2.0", omen::power::nets_component(),
            omen::power::sim_component(), omen::power::sim_profiler_component(),
            omen::power::corpus_component(), omen::power::recover_scorer_component(),
            omen::power::sweep_component(), omen::power::recover_component(),
            omen::power::statistics_component())
