// SPDX-License-Identifier: Apache-2.0
// Cycles of the array and accesses of its buffers for each dataflow.
#pragma once

#include "hardware/hardware.hpp"
#include "sim/array_layer.hpp"

namespace omen::power {

struct ArrayCounts {
  double cycles = 0;
  double ifmap_reads = 0, filter_reads = 0, ofmap_writes = 0;  // words between buffers and array
  double mapping_efficiency = 0;                               // of the array while it is filled
  double compute_utilisation = 0;                              // with filling and draining
};

// `ours` counts cycles from one; `scale_sim` as that simulator does: from zero, and with its
// additional writes of the output-stationary array.
enum class Counting { ours, scale_sim };

ArrayCounts count_array(const ArrayLayer& layer, const Hardware& hardware,
                        Counting counting = Counting::ours);

// Where a row-stationary array puts the rows of a filter and of an output
// (doi:10.1109/ISCA.2016.40).
struct RowStationaryFit {
  double active = 0;                           // processing elements at work, on average
  double sets = 1;                             // copies of a filter at once
  double row_folds = 1;                        // passes over the rows of an output
  double filters_held = 1, channels_held = 1;  // in the registers of an element
  double filter_passes = 1, channel_passes = 1;
};
RowStationaryFit fit_rows(const ArrayLayer& layer, const Hardware& hardware);

}  // namespace omen::power
