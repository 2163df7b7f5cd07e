// SPDX-License-Identifier: Apache-2.0
// What the published networks bring to the plugin.
#pragma once

#include <omen/plugin.hpp>

namespace omen::driple {

Component gcn_component();
Component gat_component();
Component gin_component();
Component pna_component();
Component convert_component();

}  // namespace omen::driple
