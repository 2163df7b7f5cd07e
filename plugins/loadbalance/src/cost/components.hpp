// SPDX-License-Identifier: Apache-2.0
// What the cost models bring to the plugin.
#pragma once

#include <omen/plugin.hpp>

namespace omen::loadbalance {

Component cost_component();
Component tree_component();
Component linear_component();

}  // namespace omen::loadbalance
