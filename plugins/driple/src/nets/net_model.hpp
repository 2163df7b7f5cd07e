// SPDX-License-Identifier: Apache-2.0
// A network with all that its answers depend on: op table, grouping, scales and ranges of training.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grouping/job_rows.hpp"
#include "nets/network.hpp"
#include "omen/artifact.hpp"

namespace omen::driple {

// One output: its answer is output * scale, or `constant` where training saw one value only.
struct OutputScale {
  std::string name;
  Metadata metadata;
  double scale = 1;
  bool masked = false;
  double constant = 0;
  std::vector<double> residuals = {};  // absolute ones of held-out rows, ascending; for intervals

  double answer(double output) const { return masked ? constant : output * scale; }
};

// Divisors by the largest measured value, as published; outputs that do not vary are masked.
OutputScale scale_of(const Label& label);

// (value - mean) / scale of log(1 + value), or values as they are where `logarithm` is off.
struct FeatureScale {
  bool logarithm = false;
  std::array<double, kGroupFeatures> mean{0, 0, 0}, scale{1, 1, 1};

  static FeatureScale of(const JobRows& rows);
  at::Tensor apply(const at::Tensor& features) const;
};

// What training saw, for answers that reach beyond it; no bounds where `known` is off.
struct SeenRange {
  bool known = false;
  double least_operations = 0, most_operations = 0, least_size = 0, most_size = 0;

  void include(const JobGraph& graph);
};

struct NetModel {
  std::unique_ptr<Network> network;
  OpFrequencies frequencies;
  Grouping grouping;
  FeatureScale features;
  SeenRange seen;
  std::vector<OutputScale> outputs;

  // Graphs of one number of groups, with features as the network reads them.
  TensorBatch batch(const std::vector<const JobGraph*>& graphs) const;
  // [graphs, outputs] of any graphs, in their order; no gradients. `progress` may throw.
  at::Tensor run(const std::vector<const JobGraph*>& graphs,
                 const std::function<void(double)>& progress) const;
  bool extrapolates(const JobGraph& graph) const;

  void save(ArtifactWriter& out) const;
  static NetModel load(const ArtifactReader& in);
};

}  // namespace omen::driple
