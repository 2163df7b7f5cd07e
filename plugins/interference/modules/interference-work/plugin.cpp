// SPDX-License-Identifier: Apache-2.0
// The loads as a plugin of their own, so that nothing else of the track waits for LibTorch.
#include <omen/plugin.hpp>

#include "work/measure_command.hpp"
#include "work/work_command.hpp"

OMEN_PLUGIN("interference-work", "0.1.0", "Apache-2.0", omen::interference::work_component(),
            omen::interference::measure_component())
