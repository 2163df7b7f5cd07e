// SPDX-License-Identifier: Apache-2.0
// The components that open at once: no LibTorch.
#include <omen/plugin.hpp>

#include "corpus/corpus_frontend.hpp"
#include "nets/nets_frontend.hpp"
#include "sim/sim_predictor.hpp"

OMEN_PLUGIN("power", "0.1.0", "Apache-2.0", omen::power::nets_component(),
            omen::power::sim_component(), omen::power::corpus_component())
