// SPDX-License-Identifier: Apache-2.0
// The components of the track; none of them needs LibTorch.
#include <omen/plugin.hpp>

#include "characterise/characterise_command.hpp"
#include "cluster/cluster_command.hpp"
#include "densify/densify_command.hpp"
#include "measure/corun_profiler.hpp"
#include "measure/probe_command.hpp"
#include "pack/pack_scorer.hpp"
#include "pair/pair_predictor.hpp"
#include "simulate/simulate_command.hpp"
#include "solo/solo_predictor.hpp"
#include "tables/tables_frontend.hpp"

OMEN_PLUGIN("interference", "0.1.0", "Apache-2.0", omen::interference::tables_component(),
            omen::interference::pair_component(), omen::interference::solo_component(),
            omen::interference::pack_component(), omen::interference::characterise_component(),
            omen::interference::densify_component(), omen::interference::cluster_component(),
            omen::interference::corun_component(), omen::interference::probe_component(),
            omen::interference::simulate_component())
