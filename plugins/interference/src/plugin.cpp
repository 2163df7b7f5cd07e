// SPDX-License-Identifier: Apache-2.0
// The components of the track.
#include <omen/plugin.hpp>

#include "pack/pack_scorer.hpp"
#include "pair/pair_predictor.hpp"
#include "tables/tables_frontend.hpp"

OMEN_PLUGIN("interference", "0.1.0", "Apache-2.0", omen::interference::tables_component(),
            omen::interference::pair_component(), omen::interference::pack_component())
