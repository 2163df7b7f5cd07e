// SPDX-License-Identifier: Apache-2.0
// Training by the published protocol, from scratch or of the late half of a network.
#pragma once

#include <string>
#include <vector>

#include "nets/net_model.hpp"
#include "omen/run.hpp"

namespace omen::driple {

struct NetTrainingOptions {
  std::int64_t epochs = 200;
  std::int64_t patience = 50;
  std::int64_t batch = 32;
  double rate = 3e-3;
  double decay = 1e-6;
  double clip = 0;        // largest norm of gradients; 0: none
  bool transfer = false;  // early rounds and the recurrent unit stay as they are
  std::string fingerprint;
};

struct LabelledRows {
  const JobRows* rows = nullptr;
  const std::vector<Label>* labels = nullptr;
};

// Trains in place, by mean squared errors of labels over their scales; masked and unmeasured ones
// do not count. Rows without a graph are left out. With held-out rows the best epoch on them is
// kept and their residuals give the widths of intervals.
void train_network(NetModel& model, const LabelledRows& learnt, const LabelledRows& held_out,
                   const NetTrainingOptions& options, const Run& run);

// Mean squared error over all measured labels of rows with a graph, in units of the scales.
double scaled_error(const NetModel& model, const LabelledRows& data,
                    const std::function<void(double)>& progress);

}  // namespace omen::driple
