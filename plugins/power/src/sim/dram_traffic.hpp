// SPDX-License-Identifier: Apache-2.0
// Bytes that a layer moves between memory and buffers under the best of three tilings.
#pragma once

#include "hardware/hardware.hpp"
#include "sim/array_layer.hpp"

namespace omen::power {

enum class Tiling { weights_resident, inputs_resident, sums_resident };

struct DramTraffic {
  double bytes = 0;
  double weights = 0, inputs = 0, outputs = 0;  // the least that must move, in bytes
  Tiling tiling = Tiling::weights_resident;
};

DramTraffic dram_traffic(const ArrayLayer& layer, const Hardware& hardware);

}  // namespace omen::power
