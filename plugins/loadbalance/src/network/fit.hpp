// SPDX-License-Identifier: Apache-2.0
// Training of a network: everything together on graphs, then the readout alone on pooled states.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/kernel_rows.hpp"
#include "network/model.hpp"
#include "omen/run.hpp"

namespace omen::loadbalance {

struct FitOptions {
  std::int64_t epochs = 20;          // over graphs, all weights
  std::int64_t readout_epochs = 60;  // over rows, the readout alone; states are computed once
  std::int64_t batch_graphs = 16;
  std::int64_t batch_rows = 32;
  double rate = 2e-3;
  double readout_rate = 3e-3;
  double decay = 1e-2;        // of the weights, decoupled from the gradient
  double class_weight = 0.5;  // of the cross-entropy beside the loss of numbers
  bool absolute = true;       // absolute rather than squared errors
  std::int64_t patience = 0;  // epochs without progress on the validation rows; 0: all epochs
  std::string fingerprint;
};

// Fits model.network in place. `targets` fit model.targets; rows that lack a graph, a size or all
// targets stay out. With validation rows the weights of the best epoch of each part are kept;
// without, those of the last. OMEN_INVALID_DATA where nothing is left to learn from.
struct FitData {
  const KernelRows& rows;
  const std::vector<TargetColumn>& targets;
};
void fit_network(NetworkModel& model, const FitData& train, const FitData* valid,
                 const FitOptions& options, const Run& run);

// Means and scales of numbers, ranges of the auxiliary inputs: what build() and training need.
void measure_targets(NetworkModel& model, const FitData& train);

}  // namespace omen::loadbalance
