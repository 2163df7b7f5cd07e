// SPDX-License-Identifier: Apache-2.0
// The published networks as a plugin.
#include <omen/plugin.hpp>

#include "nets/components.hpp"

OMEN_PLUGIN("driple-nets", "0.1.0", "Apache-2.0", omen::driple::gcn_component(),
            omen::driple::gat_component(), omen::driple::gin_component(),
            omen::driple::pna_component(), omen::driple::convert_component())
