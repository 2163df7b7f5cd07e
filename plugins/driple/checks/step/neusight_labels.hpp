// SPDX-License-Identifier: Apache-2.0
// Measured steps of transformers on seven GPUs, with what other predictors said of them.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <string>
#include <vector>

namespace omen::driple::checks {

struct LabelRow {
  std::string gpu, model;
  bool amd = false, fused = false, training = false, suspect = false;
  opgraph::Job job;
  double seconds = 0;
  double neusight = 0, habitat = 0, linear = 0, roofline = 0;  // 0: no prediction was published
};

std::vector<LabelRow> read_labels();

}  // namespace omen::driple::checks
