// SPDX-License-Identifier: Apache-2.0
// Training of a network: everything together on graphs, then the readout alone on pooled states.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/run.hpp"
#include "omen/torch/nn/network.hpp"
#include "omen/torch/nn/targets.hpp"

namespace omen::torch_kit::nn {

struct FitOptions {
  std::int64_t epochs = 20;          // over graphs, all weights
  std::int64_t readout_epochs = 60;  // over rows, the readout alone; states are computed once
  std::int64_t batch_graphs = 16;
  std::int64_t batch_rows = 32;
  double rate = 2e-3;
  double readout_rate = 3e-3;
  double decay = 1e-2;  // of the weights, decoupled from the gradient
  LossOptions loss = {};
  std::int64_t patience = 0;     // epochs without progress on the validation rows; 0: all epochs
  std::string fingerprint = {};  // see TrainingOptions
};

// What is learnt from; `graph` must outlive the call.
struct FitRows {
  std::vector<const TokenGraph*> graph;     // null: the row stays out
  at::Tensor auxiliary;                     // [rows, auxiliary]
  std::vector<std::vector<double>> values;  // by target and row: a number or the number of a
                                            // class; NaN where it was not measured
};

// Fits the network in place to measured targets. Rows without a graph or any value stay out. With
// validation rows the weights of the best epoch of each part are kept; without, those of the last.
// OMEN_INVALID_DATA where nothing is left to learn from.
void fit(Network& network, const std::vector<Target>& targets, const FitRows& train,
         const FitRows* valid, const FitOptions& options, const Run& run);

}  // namespace omen::torch_kit::nn
