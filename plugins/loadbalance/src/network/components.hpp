// SPDX-License-Identifier: Apache-2.0
// What the networks bring to the plugin.
#pragma once

#include <omen/plugin.hpp>

namespace omen::loadbalance {

Component network_component();
Component convert_component();
Component dataflow_test_component();

}  // namespace omen::loadbalance
