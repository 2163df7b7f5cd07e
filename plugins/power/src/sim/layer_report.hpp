// SPDX-License-Identifier: Apache-2.0
// What each layer costs, as a table with a chart, and the roofline of the accelerator.
#pragma once

#include <omen/run.hpp>
#include <omen/table.hpp>

#include "sim/simulate.hpp"

namespace omen::power {

Table layer_table(const Net& net, const Hardware& hardware, const std::vector<LayerCost>& layers);
// Figures "layers-ID" and "roofline-ID"; nothing where nobody asked for a directory.
void put_layer_report(const Run& run, std::int64_t id, const std::string& name, const Net& net,
                      const Hardware& hardware, const std::vector<LayerCost>& layers);

}  // namespace omen::power
